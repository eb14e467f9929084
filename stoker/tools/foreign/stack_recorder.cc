#include "stoker/tools/foreign/stack_recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/proc_text.h"
#include "stoker/base/short_text.h"

extern char** environ;

namespace stoker {
namespace {

constexpr const char* kSamplesPerSecond = "50";
constexpr double kSecondsToWrite = 10;

// py-spy's own words, without the stack of itself that follows; empty: it wrote none.
std::string ErrorIn(const std::filesystem::path& log) {
  const std::string text = ReadSmallText(log);
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with("Error: ")) return ShortText(line.substr(7));
  }
  return {};
}

}  // namespace

StackRecorder::~StackRecorder() {
  if (!started() || status_) return;
  ::kill(pid_, SIGKILL);
  Wait(kSecondsToWrite);
}

Status StackRecorder::Start(int64_t pid) {
  if (!folder_) {
    STOKER_ASSIGN_OR_RETURN(TemporaryDirectory folder, TemporaryDirectory::Create("doctor"));
    folder_.emplace(std::move(folder));
  }
  std::vector<std::string> words = {
      "py-spy", "record",           "--subprocesses", "--threads",
      "--idle", "--full-filenames", "--format",       "speedscope",
      "--rate", kSamplesPerSecond,  "--output",       folder_->path() / "stacks.json",
      "--pid",  std::to_string(pid)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = folder_->path() / "log";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // A group of its own: ^C ends the program first, and then the recording.
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  if (std::string error = ErrorIn(log); !error.empty()) error_ = std::move(error);
  status_.reset();
  const int failed = ::posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return OkStatus();
  pid_ = 0;
  if (failed == ENOENT) return NotFound("py-spy is not installed");
  return ErrnoStatus(failed, "starting py-spy");
}

bool StackRecorder::HasEnded() {
  int status = 0;
  if (!status_ && started() && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_.has_value();
}

void StackRecorder::Wait(double seconds) {
  const Stopwatch watch;
  while (!HasEnded()) {
    if (watch.ElapsedSeconds() > seconds) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Result<PythonStacks> StackRecorder::Stop() {
  if (!started()) return FailedPrecondition("py-spy was not started");
  if (!HasEnded()) ::kill(pid_, SIGINT);  // it writes its file then
  Wait(kSecondsToWrite);
  std::FILE* const file = std::fopen((folder_->path() / "stacks.json").c_str(), "rb");
  if (file == nullptr) {
    if (std::string error = ErrorIn(folder_->path() / "log"); !error.empty()) error_ = error;
    return FailedPrecondition("py-spy: {}", error_.empty() ? "it recorded nothing" : error_);
  }
  std::string text;
  std::vector<char> part(1 << 16);
  constexpr size_t kMost = size_t{1} << 28;
  while (text.size() < kMost) {
    const size_t count = std::fread(part.data(), 1, part.size(), file);
    if (count == 0) break;
    text.append(part.data(), count);
  }
  std::fclose(file);
  std::error_code error;
  return ParseSpeedscope(text, std::filesystem::current_path(error));
}

}  // namespace stoker
