#include "stoker/formats/tensorboard/event_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <span>
#include <system_error>

#include "stoker/base/host_name.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

std::string HostInFileName() {
  std::string host = HostName();
  std::ranges::replace(host, '/', '-');
  return host;
}

// The seconds in the name of an event file; -1 for what is none.
int64_t SecondsOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return -1;
  name.remove_prefix(kPrefix.size());
  int64_t seconds = -1;
  std::from_chars(name.data(), name.data() + name.size(), seconds);
  return seconds;
}

// Now, or later where a file is there from now or from a clock that was ahead.
int64_t SecondsForNewFile(const std::string& directory) {
  auto seconds = static_cast<int64_t>(WallTime());
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const int64_t taken = SecondsOf(it->path().filename().string());
    // What no clock says is none of ours, and names with more digits would sort wrongly.
    if (taken < int64_t{9'999'999'999}) seconds = std::max(seconds, taken + 1);
  }
  return seconds;
}

}  // namespace

double WallTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Result<EventWriter> EventWriter::Create(const std::string& directory,
                                        std::optional<int64_t> restart_at) {
  static std::atomic<int> number = 0;
  const std::string name = fmt::format("{}{:010}.{}.{}.{}", kPrefix, SecondsForNewFile(directory),
                                       HostInFileName(), ::getpid(), number++);
  std::string path = (std::filesystem::path(directory) / name).string();
  Descriptor descriptor =
      OpenUninterrupted(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC);
  if (!descriptor.valid()) return ErrnoStatus(errno, path);
  EventWriter writer(std::move(path), std::move(descriptor));
  STOKER_RETURN_IF_ERROR(writer.Append(FileVersionEvent(WallTime())));
  if (restart_at) STOKER_RETURN_IF_ERROR(writer.Append(RestartEvent(WallTime(), *restart_at)));
  return writer;
}

Status EventWriter::Write(const Summary& summary, int64_t step) {
  return Append(summary.Event(WallTime(), step));
}

Status EventWriter::Append(std::string_view event) {
  const std::string frame = FrameTfRecord(event);
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) return ErrnoStatus(errno, path_);
  return internal::WriteAll(descriptor_.get(), std::as_bytes(std::span(frame)), path_,
                            static_cast<uint64_t>(status.st_size));
}

Status EventWriter::Sync() const {
  return ::fdatasync(descriptor_.get()) == 0 ? OkStatus() : ErrnoStatus(errno, path_);
}

}  // namespace stoker
