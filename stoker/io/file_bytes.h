// FileBytes: a file at one address in memory, for parsers with random access.
//
//   STOKER_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Open("a.h5"));
//   STOKER_RETURN_IF_ERROR(file.Load(at, 64));       // before access to bytes at..at+63
//   STOKER_RETURN_IF_ERROR(file.ReadAt(at, out));
//   // values that need not stay in memory
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/io/file.h"

namespace stoker {

// By position (the default), Load copies bytes from the file: a file that is truncated while it is
// open gives an error, and one that cannot be truncated is mapped. Mapped, the bytes are the page
// cache's own memory: nothing is copied, several processes share it, and the kernel can reclaim it;
// but access to bytes that a truncated file has lost raises SIGBUS, which ends the program unless
// it has a handler.
enum class FileAccess { kByPosition, kMapped };

// Sets what FileBytes::Open does in the whole process. Call it before files are opened.
void SetFileAccess(FileAccess access);

// Immutable and a cheap value; const functions are safe from several threads.
class FileBytes {
 public:
  // Opens a regular file; of one on a server, its copy in the local cache. Errors: those of
  // File::Open.
  static Result<FileBytes> Open(const std::string& path, MapAdvice advice = MapAdvice::kNormal);
  // Wraps bytes in memory, shared, not copied. `name`: what errors call them.
  static FileBytes Of(Buffer bytes, std::string name);

  const std::string& name() const;
  uint64_t size() const { return bytes().size(); }
  // Returns as many bytes as the file has. If they are not `present`, those that were not loaded
  // are 0.
  std::span<const std::byte> bytes() const;
  // Returns the same; arrays may share loaded bytes of it.
  const Buffer& buffer() const;
  // Returns true if all bytes are there without Load: mapped, or in memory.
  bool present() const;

  // Loads these bytes, which must be in the file, for as long as a copy of this lives; allocates
  // memory in pieces of 16 KiB, charged to no account. Does nothing if they are present. Errors:
  // kDataLoss if the file has been truncated; those of reading.
  Status Load(uint64_t offset, uint64_t bytes) const;
  Status LoadAll() const { return Load(0, size()); }

  // Copies these bytes, which must be in the file, to `out`. Errors: as Load.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  // Returns these bytes, which must be in the file: in place if they are present, else a copy in
  // `room`. A `room` that is too small is replaced by a block charged to `account` (may be null).
  // Errors: as Load.
  Result<std::span<const std::byte>> View(
      uint64_t offset, uint64_t bytes, Buffer& room,
      const std::shared_ptr<MemoryAccount>& account = nullptr) const;

 private:
  struct State;
  explicit FileBytes(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace stoker
