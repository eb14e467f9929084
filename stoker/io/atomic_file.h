// Atomic writing: a file with the final name is whole, whenever the process or the machine dies.
//
// The content goes into a temporary sibling, ".NAME.tmp-PID-RANDOM", which Commit flushes to the
// disk (fsync(2)) and renames to the final name (rename(2)); last it flushes the directory that
// holds the name. So once Commit has returned, the content and its name survive a loss of power,
// provided that the directories above do: make those with CreateDirectories. RemoveStaleTemporaries
// removes what a killed process left.
//
// Errors of all functions: kResourceExhausted (disk or quota full, file too large),
// kPermissionDenied (no access, or a read-only file system), kNotFound (no such directory).
// Messages name the final path and say what to do. After an error nothing has changed under the
// final name, with one exception: if only the last flush fails, the new content is there whole, but
// a loss of power may restore the old one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/temporary.h"

namespace stoker {

// The destructor removes the temporary unless it was committed. Movable; one thread at a time.
class AtomicFileWriter {
 public:
  // Begins a file that will be called `path`. Commit replaces a file of that name (a symbolic link
  // itself, not its target); its directory must exist. Errors: also those of CheckNameIsOfNoDevice.
  static Result<AtomicFileWriter> Create(std::string path);

  // Adds bytes. Collects small pieces; writes large ones without a copy. After an error all calls
  // fail.
  Status Append(std::span<const std::byte> bytes);
  Status Append(std::string_view text) { return Append(std::as_bytes(std::span(text))); }

  // Returns the bytes appended so far.
  uint64_t size() const { return bytes_written_ + pending_.size(); }

  // Flushes to the disk and takes the final name. Call once; no Append afterwards.
  Status Commit();

 private:
  explicit AtomicFileWriter(internal::Temporary temporary);
  Status Write(std::span<const std::byte> bytes);
  Status CommitOnce();

  internal::Temporary temporary_;
  uint64_t bytes_written_ = 0;  // without those pending
  std::vector<std::byte> pending_;
  Status error_;
};

// Refuses with kInvalidArgument a `path` that is a device, pipe or socket, a link to one, or
// anything in /dev itself (/dev/stdout, which may be a link to a file) or in /proc, because a file
// that takes the name would replace it.
Status CheckNameIsOfNoDevice(const std::string& path);

// Writes and commits a file in one call.
Status WriteFileAtomically(const std::string& path, std::span<const std::byte> contents);
Status WriteFileAtomically(const std::string& path, std::string_view contents);

// A directory that appears with all its files at once. Destroyed before Commit, it is removed with
// its content.
class AtomicDirectory {
 public:
  // Begins a directory that will be called `path`. Its parent must exist; `path` itself must not
  // (an empty directory may). Errors: kFailedPrecondition if it does.
  static Result<AtomicDirectory> Create(std::string path);

  // The same, but what has that name is removed once the new directory has it. Where the process is
  // killed, one of both has the name, whole; RemoveStaleTemporaries removes the other. (On file
  // systems that cannot exchange two names there is a moment at which neither has it.)
  static Result<AtomicDirectory> CreateInPlaceOf(std::string path);

  // Returns where to write the files until Commit.
  const std::string& path() const { return temporary_.path(); }
  // Returns an error about something below path() with the directory's final name in it.
  Status WithFinalName(const Status& status) const {
    return internal::WithFinalName(status, temporary_.path(), temporary_.final_path());
  }

  // Flushes every file and directory below path() to the disk and gives the directory its final
  // name. Errors: also kFailedPrecondition if something of that name has appeared meanwhile.
  Status Commit();

 private:
  explicit AtomicDirectory(internal::Temporary temporary) : temporary_(std::move(temporary)) {}

  internal::Temporary temporary_;
  bool replaces_ = false;
};

// Makes the directory `path` and those above it that are missing, and flushes the directory that
// holds each new one, so that they survive a loss of power. Succeeds if the directory exists (a
// link to one counts). Relative paths begin at the working directory. Errors: also kNotFound if
// a part of the path is a file; directories made before the error stay.
Status CreateDirectories(const std::string& path);

// Removes a file, or a directory with its content. It is renamed first, so whatever still has the
// name is whole, whenever the process dies; RemoveStaleTemporaries removes the rest. Not flushed:
// after a loss of power it may be there again, whole or under the name of a stale temporary.
// Errors: also kNotFound if there is nothing of that name.
Status RemoveAtomically(const std::string& path);

// Removes from `directory` (not from those below it) the temporaries whose process is gone, and
// returns their number. Leaves a temporary alone that is still being written: a lock (flock(2)) and
// the number of a living process mark it.
Result<int> RemoveStaleTemporaries(const std::string& directory);

}  // namespace stoker
