// Files that are read from the storage, not from the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// Blocks that direct reads accept as their destination, start at multiples of this, and so do their
// offsets and lengths.
inline constexpr int64_t kDirectAlignment = 4096;

// Memory for direct reads.
class AlignedBlock {
 public:
  // `bytes`: a multiple of kDirectAlignment. Errors: kResourceExhausted.
  static Result<AlignedBlock> Allocate(int64_t bytes);

  std::span<std::byte> bytes() const { return {block_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* block) const;
  };
  AlignedBlock(std::byte* block, size_t size) : block_(block), size_(size) {}

  std::unique_ptr<std::byte, Free> block_;
  size_t size_;
};

// Returns whether a file can be read directly, past the page cache (O_DIRECT). Reads its first
// block to find out, because a file system may accept the flag and refuse the read.
bool HasDirectReads(const std::string& path);

// A regular file. Concurrent reads are safe.
class ColdFile {
 public:
  // Opens it for direct reads; without `direct`, drops its pages from the page cache, and has the
  // kernel read nothing ahead unless `in_sequence`.
  // Errors: those of open(2), with the path.
  static Result<ColdFile> Open(const std::string& path, bool direct, bool in_sequence);

  int64_t size() const { return size_; }
  bool direct() const { return direct_; }

  // Reads up to a block from an offset that is a multiple of kDirectAlignment. Returns the bytes
  // read, fewer only at the end of the file.
  Result<int64_t> Read(int64_t offset, const AlignedBlock& block) const;

  // Drops what this process has read from the page cache, for another pass. Does nothing for
  // direct reads.
  void Forget() const;

 private:
  ColdFile(std::string path, Descriptor descriptor, int64_t size, bool direct)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size), direct_(direct) {}

  std::string path_;
  Descriptor descriptor_;
  int64_t size_ = 0;
  bool direct_ = false;
};

}  // namespace stoker
