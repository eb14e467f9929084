// Buffer: shared ownership of a block of bytes; BufferPool: where blocks come from and go back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "stoker/base/ledger.h"

namespace stoker {

inline constexpr size_t kBufferAlignment = 64;  // a cache line, and the widest vector

// A block of bytes that lives as long as one of its copies. Copying is cheap (one atomic increment)
// and thread-safe; the owner must not write while others read. A default-constructed Buffer holds
// nothing.
class Buffer {
 public:
  Buffer() = default;

  // Returns a new block of `size` bytes, 64-byte aligned, not cleared, charged to `account` (may be
  // null) while it lives. Throws std::bad_alloc if the system has no memory; the caller checks a
  // size that comes from a file.
  static Buffer Allocate(size_t size, std::shared_ptr<MemoryAccount> account = nullptr);

  // Wraps memory of another owner, who may still read it, so it is never written in place
  // (exclusive() is false). `release` runs when the last copy is destroyed, on the thread that
  // destroys it.
  static Buffer Wrap(std::byte* data, size_t size, std::function<void()> release);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  explicit operator bool() const { return owner_ != nullptr; }
  // Returns true if this is the only copy of a block made by Allocate, so that the holder may
  // write. Everything that other threads did with their copies, the last read included, happened
  // before the call returns true.
  bool exclusive() const;
  // Returns true if the block is charged to an account.
  bool charged() const { return kind_ == Kind::kCharged; }

 private:
  friend class BufferPool;
  enum class Kind : uint8_t { kWrapped, kUncharged, kCharged };
  Buffer(std::byte* data, size_t size, std::shared_ptr<void> owner, Kind kind)
      : data_(data), size_(size), owner_(std::move(owner)), kind_(kind) {}

  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<void> owner_;
  Kind kind_ = Kind::kUncharged;
};

// Recycles blocks of equal size, so that a running pipeline allocates nothing and its pages stay
// mapped and warm. Idle blocks stay charged to the account; the pool keeps at most
// `max_idle_bytes`, of the sizes used last. Thread-safe. A block that outlives the pool is freed
// instead of returned.
class BufferPool {
 public:
  BufferPool(std::shared_ptr<MemoryAccount> account, int64_t max_idle_bytes);
  ~BufferPool();

  // Returns a block of `size` bytes, not cleared: an idle one of about that size if there is one (a
  // small one only if this thread has used it), else a new one. It returns to the pool when its
  // last copy is destroyed.
  Buffer Get(size_t size);

  // Frees all idle blocks.
  void Trim();

 private:
  struct Shelves;
  std::shared_ptr<Shelves> shelves_;
};

}  // namespace stoker
