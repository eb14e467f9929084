// FileBytes: a file that is read here and there by what parses it, at one address in memory.
//
//   STOKER_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Open("a.h5"));
//   STOKER_RETURN_IF_ERROR(file.Load(at, 64));       // before bytes at..at+63 are looked at
//   STOKER_RETURN_IF_ERROR(file.ReadAt(at, out));    // values that are not to stay in memory
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

// By position, which is the default, bytes are copied from the file when they are asked for: one
// that is cut short while it is open gives an error, and one that cannot be is mapped. Mapped, they
// are the page cache's own memory: nothing is copied, several processes share it, and whatever
// memory is short of is given back; but a program that touches what the file has lost gets SIGBUS,
// which ends it unless it has a handler.
enum class FileAccess { kByPosition, kMapped };

// What FileBytes::Open does from now on, in the whole process. Call it before files are opened.
void SetFileAccess(FileAccess access);

// Immutable and a cheap value; const functions are safe from several threads.
class FileBytes {
 public:
  // A regular file; of one on a server, its copy in the local cache. Errors: those of File::Open.
  static Result<FileBytes> Open(const std::string& path, MapAdvice advice = MapAdvice::kNormal);
  // Bytes in memory, shared, not copied. `name`: what errors call them.
  static FileBytes Of(Buffer bytes, std::string name);

  const std::string& name() const;
  uint64_t size() const { return bytes().size(); }
  // As many as the file has. Where they are not `present`, those that Load was not asked for are 0.
  std::span<const std::byte> bytes() const;
  // The same; arrays may share it, of bytes that are loaded.
  const Buffer& buffer() const;
  // True where all bytes are there without Load: mapped, or in memory.
  bool present() const;

  // Has these bytes, which must be in the file, there from now on, for as long as a copy of this
  // lives; memory is taken in pieces of 16 KiB and charged to nobody. Does nothing where they are
  // present. Errors: kDataLoss where the file has been cut short; those of reading.
  Status Load(uint64_t offset, uint64_t bytes) const;
  Status LoadAll() const { return Load(0, size()); }

  // Copies these bytes, which must be in the file, to `out`. Errors: as Load.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  // These bytes, which must be in the file: where they are if they are present, else a copy in
  // `room`, which is replaced by a block charged to `account` (may be null) if it is too small.
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
