// ByteSource: bytes in sequence, wherever they come from. What parsers of streams read.
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

// An upper bound of the bytes that a source gives in all; a parser refuses announced sizes beyond
// it before it allocates memory for them.
struct SizeBound {
  uint64_t bytes;
  bool exact;  // false where it is known only roughly (compressed data)
};

// One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills some or all of `out` (not empty) and returns how many bytes; 0 means the end, and only
  // then is all that was read known to be whole: a checksum behind the data is verified on the way
  // to that 0, so read until then. An error is final: later calls give it again. kCancelled where
  // the thread was asked to stop (base/stop_scope.h), before or while it waits.
  Result<size_t> Read(std::span<std::byte> out);

  // Reads until `out` is full or the end is reached; less than out.size() means the end.
  Result<size_t> ReadFully(std::span<std::byte> out);

  // What error messages call this source: a path, with " (decompressed)" where positions count
  // decompressed bytes.
  const std::string& name() const { return name_; }

  // Where the next byte stands in the content: the bytes handed out so far, or skipped at first.
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

// The file's bytes as they are, from `offset` on; those of a file on a server are read ahead
// (io/remote/caching_source.h), in memory charged to `account` (may be null).
std::unique_ptr<ByteSource> MakeFileSource(File file, uint64_t offset = 0,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

// The bytes of a file that is here, as they are; borrowed, it must outlive the source.
std::unique_ptr<ByteSource> MakeBorrowedSource(const File& file);

// "a.csv" of "a.csv.gz", and of the endings of the other compressions that OpenByteSource knows; a
// path without one as it is.
std::string_view WithoutCompressedEnding(std::string_view path);

// The first bytes of what `path` names, at most `bytes`, as they are. Of standard input too.
Result<std::string> ReadStart(const std::string& path, size_t bytes);

// The bytes as they are, from `offset` on, of a file, a file on a server or standard input (of
// which those before are passed over). Errors: those of File::Open; kOutOfRange where it ends
// before.
Result<std::unique_ptr<ByteSource>> OpenStoredBytes(const std::string& path, uint64_t offset,
                                                    std::shared_ptr<MemoryAccount> account);

// `bytes` as they are; borrowed, they must outlive the source.
std::unique_ptr<ByteSource> MakeMemorySource(std::span<const std::byte> bytes, std::string name);

// Reads up to byte `offset` of the content and lets the bytes go. Errors: those of reading;
// kOutOfRange where the content ends before.
Status SkipTo(ByteSource& source, uint64_t offset, const std::shared_ptr<MemoryAccount>& account);

// The content of a regular file, a file on a server (base/remote_path.h) or what is piped in
// ("-" or /dev/stdin; io/standard_input.h), decompressed where its first bytes say that it is
// compressed (gzip, zstd, xz, bzip2), whatever the file's name says. Errors: those of
// File::Open.
//   account  what a decoder's memory is charged to while the source lives; may be null
Result<std::unique_ptr<ByteSource>> OpenByteSource(
    const std::string& path, std::shared_ptr<MemoryAccount> account = nullptr);

// The same from byte `offset` of the content on: a plain file is read from there, a compressed one
// is decompressed from its start, which takes as long as reading that much did. Errors: also
// kOutOfRange where the content ends before, and those of reading.
Result<std::unique_ptr<ByteSource>> OpenByteSourceAt(const std::string& path, uint64_t offset,
                                                     std::shared_ptr<MemoryAccount> account);

}  // namespace stoker
