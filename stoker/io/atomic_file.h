// Writing that is never half-done: what carries the final name is whole, whenever the process or
// the machine dies.
//
// All goes into a temporary sibling, ".NAME.tmp-PID-RANDOM", is flushed to the disk (fsync(2)), and
// then takes the final name in one step (rename(2)); last, the directory that holds the name is
// flushed. So once Commit has returned, the content and its name survive a loss of power, provided
// that the directories above do: make those with CreateDirectories. What a killed process leaves
// behind is never mistaken for a result, and RemoveStaleTemporaries takes it away.
//
// Errors of all functions: kResourceExhausted (disk or quota full, file too large),
// kPermissionDenied (no access, or a read-only file system), kNotFound (no such directory).
// Messages name the final path and say what to do. After an error nothing has changed under the
// final name, with one exception: where only the last flush fails, the new content stands there
// whole, but a loss of power may bring the old one back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/temporary_internal.h"

namespace stoker {

// Removes, when destroyed, the temporary that Create made, unless it was committed. Moves; one
// thread at a time.
class AtomicFileWriter {
 public:
  // Begins a file that will be called `path`. A file of that name is replaced by Commit (a symbolic
  // link too, not what it points to); its directory must exist. Errors: also those of
  // CheckNameIsOfNoDevice.
  static Result<AtomicFileWriter> Create(std::string path);

  // Adds bytes. Small ones are collected; large ones are written without a copy. After an error all
  // calls fail.
  Status Append(std::span<const std::byte> bytes);
  Status Append(std::string_view text) { return Append(std::as_bytes(std::span(text))); }

  // Appended so far.
  uint64_t size() const { return bytes_written_ + pending_.size(); }

  // Flushes to the disk and takes the final name. Call once; no Append afterwards.
  Status Commit();

 private:
  explicit AtomicFileWriter(internal::Temporary temporary);
  Status Write(std::span<const std::byte> bytes);
  Status CommitOnce();

  internal::Temporary temporary_;
  uint64_t bytes_written_ = 0;  // those pending not included
  std::vector<std::byte> pending_;
  Status error_;
};

// kInvalidArgument where `path` is a device, pipe or socket, a link to one, or what there is in
// /dev itself (/dev/stdout, which may be a link to a file) or in /proc: what takes its name would
// be in its place.
Status CheckNameIsOfNoDevice(const std::string& path);

// All of the above in one call.
Status WriteFileAtomically(const std::string& path, std::span<const std::byte> contents);
Status WriteFileAtomically(const std::string& path, std::string_view contents);

// A directory that appears at once, with all its files. Removed with all that is in it when
// destroyed before Commit.
class AtomicDirectory {
 public:
  // Begins a directory that will be called `path`. Its parent must exist; `path` itself must not
  // (an empty directory may). Errors: kFailedPrecondition where it does.
  static Result<AtomicDirectory> Create(std::string path);

  // Where to write the files until Commit.
  const std::string& path() const { return temporary_.path(); }
  // An error of something below path(), told of the directory's final name.
  Status WithFinalName(const Status& status) const {
    return internal::WithFinalName(status, temporary_.path(), temporary_.final_path());
  }

  // Flushes every file and directory below path() to the disk and gives the directory its final
  // name. Errors: also kFailedPrecondition where something of that name has appeared meanwhile.
  Status Commit();

 private:
  explicit AtomicDirectory(internal::Temporary temporary) : temporary_(std::move(temporary)) {}

  internal::Temporary temporary_;
};

// Makes the directory `path` and those above it that are missing, and flushes the directory that
// holds each new one, so that they survive a loss of power. Success where it is there already (a
// link to a directory counts). Relative paths begin at the working directory. Errors: also
// kNotFound where a part of the path is a file; what was made before the error stays.
Status CreateDirectories(const std::string& path);

// Removes a file, or a directory with all that is in it: it loses its name at once, so what still
// carries the name is whole, whenever the process dies. What a killed process had not removed yet
// is left to RemoveStaleTemporaries. Not flushed: after a loss of power it may be there again,
// whole or under the name of a stale temporary. Errors: also kNotFound where there is nothing of
// that name.
Status RemoveAtomically(const std::string& path);

// Removes from `directory` (not from those below it) the temporaries whose process is gone, and
// returns their number. A temporary that is still being written is left alone: its process holds a
// lock on it (flock(2)), and its number is that of a living process.
Result<int> RemoveStaleTemporaries(const std::string& directory);

}  // namespace stoker
