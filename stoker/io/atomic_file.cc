#include "stoker/io/atomic_file.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stoker/io/descriptor.h"
#include "stoker/io/made_directories.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using internal::SyncToDisk;
using internal::Temporary;
using internal::WriteAll;
using internal::WriteError;

constexpr size_t kPendingBytes = 64 << 10;

Status SyncPath(const std::string& path) {
  const Descriptor file = OpenUninterrupted(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (!file.valid()) return WriteError(errno, path, "cannot open to flush it to the disk");
  return SyncToDisk(file.get(), path);
}

Status SyncTree(const std::string& directory) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_symlink()) continue;  // the entry is flushed with its directory
    STOKER_RETURN_IF_ERROR(SyncPath(it->path().string()));
  }
  if (error) return WriteError(error.value(), directory, "cannot list");
  return SyncPath(directory);
}

bool IsDevice(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  return type == fs::file_type::character || type == fs::file_type::block ||
         type == fs::file_type::fifo || type == fs::file_type::socket;
}

// /dev/stdout is a link to a file where the output goes into one.
bool IsAmongDevices(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return false;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path directory = fs::weakly_canonical(absolute.parent_path(), error);
  return !error && (directory == "/dev" || directory.native().starts_with("/proc/"));
}

}  // namespace

AtomicFileWriter::AtomicFileWriter(Temporary temporary) : temporary_(std::move(temporary)) {
  pending_.reserve(kPendingBytes);
}

Result<AtomicFileWriter> AtomicFileWriter::Create(std::string path) {
  STOKER_RETURN_IF_ERROR(CheckNameIsOfNoDevice(path));
  STOKER_ASSIGN_OR_RETURN(Temporary temporary,
                          Temporary::Create(Temporary::Type::kFile, std::move(path)));
  std::error_code ignored;
  if (fs::is_directory(temporary.final_path(), ignored)) {
    return FailedPrecondition("{}: is a directory; a file cannot take its place",
                              temporary.final_path());
  }
  return AtomicFileWriter(std::move(temporary));
}

Status AtomicFileWriter::Append(std::span<const std::byte> bytes) {
  STOKER_RETURN_IF_ERROR(error_);
  if (pending_.size() + bytes.size() > kPendingBytes) {
    error_ = Write(pending_);
    pending_.clear();
    STOKER_RETURN_IF_ERROR(error_);
  }
  if (bytes.size() > kPendingBytes) {
    error_ = Write(bytes);
  } else {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  return error_;
}

Status AtomicFileWriter::Write(std::span<const std::byte> bytes) {
  STOKER_RETURN_IF_ERROR(WriteAll(temporary_.fd(), bytes, temporary_.final_path(), bytes_written_));
  bytes_written_ += bytes.size();
  return OkStatus();
}

Status AtomicFileWriter::Commit() {
  STOKER_RETURN_IF_ERROR(error_);
  const Status done = CommitOnce();
  error_ = done.ok() ? FailedPrecondition("{}: Commit was called already; make a new writer",
                                          temporary_.final_path())
                     : done;
  return done;
}

Status AtomicFileWriter::CommitOnce() {
  STOKER_RETURN_IF_ERROR(Write(pending_));
  pending_.clear();
  STOKER_RETURN_IF_ERROR(SyncToDisk(temporary_.fd(), temporary_.final_path()));
  return temporary_.Publish();
}

Status CheckNameIsOfNoDevice(const std::string& path) {
  if (!IsDevice(path) && !IsAmongDevices(path)) return OkStatus();
  return InvalidArgument(
      "{}: is a device or a pipe, and a file is made beside its name and takes it when it is "
      "whole; give the name of a file to be made",
      path);
}

Status WriteFileAtomically(const std::string& path, std::span<const std::byte> contents) {
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path));
  STOKER_RETURN_IF_ERROR(writer.Append(contents));
  return writer.Commit();
}

Status WriteFileAtomically(const std::string& path, std::string_view contents) {
  return WriteFileAtomically(path, std::as_bytes(std::span(contents)));
}

Result<AtomicDirectory> AtomicDirectory::Create(std::string path) {
  STOKER_ASSIGN_OR_RETURN(Temporary temporary,
                          Temporary::Create(Temporary::Type::kDirectory, std::move(path)));
  const fs::path final_path = temporary.final_path();
  std::error_code ignored;
  const bool empty_directory =
      fs::is_directory(final_path, ignored) && fs::is_empty(final_path, ignored);
  if (fs::exists(fs::symlink_status(final_path, ignored)) && !empty_directory) {
    return FailedPrecondition("{}: already exists; remove it or choose another name",
                              temporary.final_path());
  }
  return AtomicDirectory(std::move(temporary));
}

Result<AtomicDirectory> AtomicDirectory::CreateInPlaceOf(std::string path) {
  STOKER_ASSIGN_OR_RETURN(Temporary temporary,
                          Temporary::Create(Temporary::Type::kDirectory, std::move(path)));
  AtomicDirectory made(std::move(temporary));
  made.replaces_ = true;
  return made;
}

Status AtomicDirectory::Commit() {
  STOKER_RETURN_IF_ERROR(WithFinalName(SyncTree(temporary_.path())));
  return replaces_ ? temporary_.PublishInPlaceOfAnother() : temporary_.Publish();
}

Status CreateDirectories(const std::string& path) { return MadeDirectories().Create(path); }

Status RemoveAtomically(const std::string& path) {
  const std::string unnamed = internal::TemporaryName(path);
  if (std::rename(path.c_str(), unnamed.c_str()) != 0) {
    return WriteError(errno, path, "cannot remove");
  }
  std::error_code error;
  fs::remove_all(unnamed, error);
  return error ? WriteError(error.value(), path, "cannot remove all of it") : OkStatus();
}

Result<int> RemoveStaleTemporaries(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> temporaries;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!internal::FinalNameIn(name).empty()) temporaries.push_back(std::move(name));
  }
  if (error) return WriteError(error.value(), directory, "cannot look for unfinished files");
  int removed = 0;
  for (const std::string& name : temporaries) {
    STOKER_ASSIGN_OR_RETURN(const bool was_stale, internal::RemoveIfStale(directory, name));
    removed += was_stale ? 1 : 0;
  }
  return removed;
}

}  // namespace stoker
