// ByteSource: a sequence of bytes from any origin. Parsers of streams read it.
//
//   STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource("train-images.gz"));
//   STOKER_ASSIGN_OR_RETURN(size_t n, source->Read(chunk));  // decompressed; 0 at the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/file.h"

namespace stoker {

// An upper bound of the bytes that a source returns in total. A parser refuses larger announced
// sizes before it allocates memory for them.
struct SizeBound {
  uint64_t bytes;
  bool exact;  // false if known only roughly (compressed data)
};

// One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills some or all of `out` (not empty) and returns how many bytes; 0 means the end. Read until
  // that 0, because a checksum that follows the data is verified only then. An error is final:
  // later calls return it again. kCancelled if the thread was asked to stop (base/stop_scope.h),
  // before or while it waits.
  Result<size_t> Read(std::span<std::byte> out);

  // Reads until `out` is full or the end is reached; less than out.size() means the end.
  Result<size_t> ReadFully(std::span<std::byte> out);

  // Returns the source's name in error messages: a path, with " (decompressed)" if positions count
  // decompressed bytes.
  const std::string& name() const { return name_; }

  // Returns the offset of the next byte in the content: the bytes returned so far, and those
  // skipped at first.
  uint64_t position() const { return position_; }

  virtual SizeBound size_bound() const = 0;

 protected:
  explicit ByteSource(std::string name, uint64_t position = 0)
      : name_(std::move(name)), position_(position) {}

 private:
  virtual Result<size_t> DoRead(std::span<std::byte> out) = 0;

  const std::string name_;
  uint64_t position_;
  Status error_;
};

// Returns the file's bytes, not decompressed, from `offset` on; those of a file on a server are
// read ahead (io/remote/caching_source.h), in memory charged to `account` (may be null).
std::unique_ptr<ByteSource> MakeFileSource(File file, uint64_t offset = 0,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

// Returns the bytes of a local file, not decompressed; the file is borrowed and must outlive the
// source.
std::unique_ptr<ByteSource> MakeBorrowedSource(const File& file);

// Returns the first bytes of what `path` names (standard input included), at most `bytes`, not
// decompressed.
Result<std::string> ReadStart(const std::string& path, size_t bytes);

// Returns the bytes, not decompressed, from `offset` on, of a file, a file on a server or standard
// input (whose earlier bytes are skipped). Errors: those of File::Open; kOutOfRange if it ends
// before `offset`.
Result<std::unique_ptr<ByteSource>> OpenStoredBytes(const std::string& path, uint64_t offset,
                                                    std::shared_ptr<MemoryAccount> account);

// Returns a source of `bytes`, which are borrowed and must outlive it.
std::unique_ptr<ByteSource> MakeMemorySource(std::span<const std::byte> bytes, std::string name);

// Reads up to byte `offset` of the content and discards the bytes. Errors: those of reading;
// kOutOfRange if the content ends before.
Status SkipTo(ByteSource& source, uint64_t offset, const std::shared_ptr<MemoryAccount>& account);

// Returns the content of a regular file, a file on a server (base/remote_path.h) or standard input
// ("-" or /dev/stdin; io/standard_input.h), decompressed if its first bytes say that it is
// compressed (io/decompression.h); the file's name does not matter. Errors: those of File::Open.
//   account  what a decoder's memory is charged to while the source lives; may be null
Result<std::unique_ptr<ByteSource>> OpenByteSource(
    const std::string& path, std::shared_ptr<MemoryAccount> account = nullptr);

// Returns the same from byte `offset` of the content on: a plain file is read from there, a
// compressed one is decompressed from its start, which takes as long as reading that much. Errors:
// also kOutOfRange if the content ends before `offset`, and those of reading.
Result<std::unique_ptr<ByteSource>> OpenByteSourceAt(const std::string& path, uint64_t offset,
                                                     std::shared_ptr<MemoryAccount> account);

}  // namespace stoker
