// The input of a decompressor, and the memory that its library allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "stoker/base/buffer.h"
#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker::internal {

// Reads the compressed bytes piece by piece. Charges the piece to `account` (may be null).
class CompressedInput {
 public:
  static constexpr size_t kPieceBytes = 128 << 10;

  CompressedInput(std::unique_ptr<ByteSource> compressed,
                  const std::shared_ptr<MemoryAccount>& account)
      : compressed_(std::move(compressed)),
        // No more than a small file has, because there may be very many sources.
        piece_(Buffer::Allocate(
            std::clamp<uint64_t>(compressed_->size_bound().bytes, 1, kPieceBytes), account)) {}

  const std::string& name() const { return compressed_->name(); }
  // Returns the offset of the first unused byte in the compressed data.
  uint64_t position() const { return compressed_->position() - left_.size(); }
  // Returns the bytes that were read and not used. Valid until Refill.
  std::span<const std::byte> left() const { return left_; }
  void Use(size_t bytes) { left_ = left_.subspan(bytes); }
  // Returns whether the input ends with left().
  bool ended() const { return ended_; }

  // Returns "a.xz: byte 12 (compressed): `what`", with the offset of left().
  std::string AtByte(std::string_view what) const {
    return fmt::format("{}: byte {} (compressed): {}", name(), position(), what);
  }

  // Reads more if nothing is left. Errors: those of the source.
  Status Refill() {
    if (!left_.empty() || ended_) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const size_t got, compressed_->Read({piece_.data(), piece_.size()}));
    ended_ = got == 0;
    left_ = {piece_.data(), got};
    return OkStatus();
  }

  // Returns the bound of the decompressed size if each byte expands to `most_expansion` at most.
  SizeBound BoundOfContent(uint64_t most_expansion) const {
    const uint64_t in = compressed_->size_bound().bytes;
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    return {in > kMax / most_expansion ? kMax : in * most_expansion, false};
  }

 private:
  const std::unique_ptr<ByteSource> compressed_;
  const Buffer piece_;
  std::span<const std::byte> left_;
  bool ended_ = false;
};

// Memory that a library allocates by itself, charged to an account (may be null) as soon as its
// size is known.
class LibraryMemory {
 public:
  explicit LibraryMemory(std::shared_ptr<MemoryAccount> account) : account_(std::move(account)) {}
  LibraryMemory(const LibraryMemory&) = delete;
  LibraryMemory& operator=(const LibraryMemory&) = delete;
  ~LibraryMemory() { Set(0); }

  // Sets the bytes that it holds now.
  void Set(uint64_t bytes) {
    if (!account_ || bytes == charged_) return;
    account_->Charge(static_cast<int64_t>(bytes));
    account_->Release(static_cast<int64_t>(charged_));
    charged_ = bytes;
  }

 private:
  const std::shared_ptr<MemoryAccount> account_;
  uint64_t charged_ = 0;
};

}  // namespace stoker::internal
