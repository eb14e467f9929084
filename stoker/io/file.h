// Files that are read by position, whole, or mapped.
//
// Every error names the path. A file that does not exist is kNotFound, and the message names the
// first directory of the path that is missing; a directory instead of a file is kInvalidArgument;
// no access is kPermissionDenied.
//
// A path that begins with a scheme of base/remote_path.h names a file on a server (io/remote, which
// has its errors); "-" is /dev/stdin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"

namespace stoker {

class RemoteFile;  // io/remote/remote_file.h

// A regular file, open for reading; movable, not copyable. Concurrent calls of const functions are
// safe: a positional read moves no shared cursor. Each read of a file on a server is a request,
// unless there is a copy in the local cache.
class File {
 public:
  // Errors: those above; kUnimplemented for pipes, sockets and devices, which have no positions.
  static Result<File> Open(std::string path);
  // For random access: opens of a file on a server the copy in the local cache, which it fetches if
  // there is none (io/remote/shard_cache.h).
  static Result<File> OpenLocally(std::string path);

  // Returns the path as given; for a file on a server without what may be secret.
  const std::string& path() const { return path_; }
  // Returns null for a local file.
  const std::shared_ptr<const RemoteFile>& remote() const { return remote_; }
  // Returns the size of the file in bytes when it was opened.
  uint64_t size() const { return size_; }

  // Fills `out` with the bytes from `offset` on, all of them. `out` is unspecified if the call
  // fails. Errors: kDataLoss if the file ends before ("path: byte 16: 100 bytes wanted, the file
  // has 50").
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  // As ReadAt, but stops at the end of the file. Returns how many bytes were read, fewer than
  // out.size() only there.
  Result<size_t> ReadUpTo(uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class MappedFile;
  File(std::string path, Descriptor descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size) {}
  static Result<File> OpenRemotely(const std::string& path, bool locally);

  std::string path_;
  Descriptor descriptor_;
  uint64_t size_ = 0;
  std::shared_ptr<const RemoteFile> remote_;
  bool is_copy_ = false;  // in the cache, which keeps it while the descriptor is open
};

inline constexpr uint64_t kDefaultReadLimit = uint64_t{2} << 30;

// Reads a whole regular file.
//   limit    larger files are refused (kResourceExhausted) before memory is allocated
//   account  what the memory is charged to; may be null
Result<Buffer> ReadWholeFile(const std::string& path, uint64_t limit = kDefaultReadLimit,
                             std::shared_ptr<MemoryAccount> account = nullptr);

// Reads a small file (recipe, manifest) as text up to its end; also works on pipes.
Result<std::string> ReadTextFile(const std::string& path, uint64_t limit = uint64_t{64} << 20);

// How a mapping will be used; advice to the kernel that affects only speed.
enum class MapAdvice {
  kNormal,      // some read-ahead
  kSequential,  // from begin to end: much read-ahead
  kRandom,      // at random: no read-ahead
  kWillNeed,    // all of it, soon: start reading now
};

// A regular file mapped into memory; for a file on a server, its copy in the local cache. Copies
// share the mapping, which lives as long as the last of them and of the Buffers returned. Pages are
// read on first access. Writing into the buffer changes a private copy of the page, never the file.
// The file must not be truncated meanwhile, because access to a page that is gone raises SIGBUS:
// map only files that are replaced by renaming (atomic_file.h) or not at all.
class MappedFile {
 public:
  static Result<MappedFile> Open(std::string path, MapAdvice advice = MapAdvice::kNormal);

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {buffer_.data(), buffer_.size()}; }
  // Returns the same bytes, sharing the mapping. Not charged to any account, because the kernel can
  // reclaim such pages.
  const Buffer& buffer() const { return buffer_; }

 private:
  MappedFile(std::string path, Buffer buffer)
      : path_(std::move(path)), buffer_(std::move(buffer)) {}

  std::string path_;
  Buffer buffer_;
};

}  // namespace stoker
