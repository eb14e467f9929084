#include "stoker/tools/trainer/rank_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <string_view>

#include "stoker/base/log.h"
#include "stoker/base/mutex.h"
#include "stoker/io/descriptor.h"

namespace stoker {
namespace {

// Of what is said before the directory is known.
constexpr size_t kMostBytesKept = size_t{64} << 10;

class RankLog {
 public:
  explicit RankLog(int64_t rank) : rank_(rank) {}

  void SetRun(const std::string& run) {
    const MutexLock lock(mutex_);
    path_ = fmt::format("{}/log.rank-{}", run, rank_);
    if (!kept_.empty()) Append(kept_);
    kept_.clear();
  }

  void Take(LogLevel level, std::string_view message) {
    const std::string_view prefix = level == LogLevel::kError ? "error: " : "warning: ";
    if (level == LogLevel::kError) {
      const std::string line = fmt::format("stoker: {}{}\n", prefix, message);
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    }
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm local = {};
    ::localtime_r(&now, &local);
    const std::string line = fmt::format("{:%Y-%m-%d %H:%M:%S} {}{}\n", local, prefix, message);
    const MutexLock lock(mutex_);
    if (!path_.empty())
      Append(line);
    else if (kept_.size() + line.size() <= kMostBytesKept)
      kept_ += line;
  }

 private:
  void Append(const std::string& lines) STOKER_REQUIRES(mutex_) {
    const Descriptor file =
        OpenUninterrupted(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC);
    if (!file.valid()) return;
    [[maybe_unused]] const ssize_t written = ::write(file.get(), lines.data(), lines.size());
  }

  const int64_t rank_;
  Mutex mutex_;
  std::string path_ STOKER_GUARDED_BY(mutex_);
  std::string kept_ STOKER_GUARDED_BY(mutex_);
};

// Never destroyed: threads may log to the end.
RankLog* rank_log = nullptr;

}  // namespace

void LogAsRank(int64_t rank) {
  rank_log = new RankLog(rank);
  SetLogLevel(LogLevel::kWarning);
  SetLogSink([](LogLevel level, std::string_view message) { rank_log->Take(level, message); });
}

void SetRunOfRankLog(const std::string& run) { rank_log->SetRun(run); }

}  // namespace stoker
