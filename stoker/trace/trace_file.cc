#include "stoker/trace/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

// Room for the marks at the end of a full file.
constexpr uint64_t kReservedBytes = 4096;

// Returns 0, or the errno of a write that failed. A short write is followed by one of the rest.
int WriteAt(int fd, std::string_view text, uint64_t offset) {
  while (!text.empty()) {
    const ssize_t wrote = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    text.remove_prefix(static_cast<size_t>(wrote));
    offset += static_cast<uint64_t>(wrote);
  }
  return 0;
}

}  // namespace

Result<TraceFile> TraceFile::Create(std::string path, TraceProcess process, int64_t origin_ns,
                                    uint64_t most_bytes) {
  Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor.valid()) return internal::WriteError(errno, path, "the trace cannot be created");
  TraceFile file(std::move(path), std::move(process), origin_ns, most_bytes, std::move(descriptor));
  file.pending_ = TraceBegin(file.process_);
  STOKER_RETURN_IF_ERROR(file.Flush());
  return file;
}

TraceFile::TraceFile(std::string path, TraceProcess process, int64_t origin_ns, uint64_t most_bytes,
                     Descriptor descriptor)
    : path_(std::move(path)),
      process_(std::move(process)),
      origin_ns_(origin_ns),
      most_bytes_(most_bytes),
      descriptor_(std::move(descriptor)) {}

bool TraceFile::HasRoom() const {
  return end_ + pending_.size() + kTraceEnd.size() + kReservedBytes <= most_bytes_;
}

void TraceFile::Add(const TraceThread& thread, std::span<const TraceEvent> events) {
  if (!error_.ok()) return;
  std::string& name = named_[thread.id];  // the kernel gives the numbers of threads anew
  if (name != thread.name) {
    name = thread.name;
    AppendThreadName(thread, process_.pid, pending_);
  }
  for (const TraceEvent& event : events) {
    full_ = full_ || !HasRoom();
    if (full_) return;
    AppendEvent(event, thread, process_.pid, origin_ns_, pending_);
    ++events_;
  }
}

void TraceFile::AddMark(std::string_view name, const Json& arguments) {
  if (error_.ok()) AppendMark(name, arguments, NowNs(), process_.pid, origin_ns_, pending_);
}

Status TraceFile::Flush() {
  if (!error_.ok() || pending_.empty()) return error_;
  error_ = Write();
  pending_.clear();
  return error_;
}

Status TraceFile::Write() {
  const size_t added = pending_.size();
  pending_ += kTraceEnd;
  if (const int error = WriteAt(descriptor_.get(), pending_, end_); error != 0) {
    TakeBack();
    return internal::WriteError(error, path_, "the trace cannot be written");
  }
  end_ += added;
  return OkStatus();
}

// Makes the file end where it did before a write that failed. The blocks for that are there.
void TraceFile::TakeBack() const {
  if (end_ == 0) return;
  if (WriteAt(descriptor_.get(), kTraceEnd, end_) != 0) return;
  const auto size = static_cast<off_t>(end_ + kTraceEnd.size());
  if (::ftruncate(descriptor_.get(), size) != 0) return;
}

}  // namespace stoker
