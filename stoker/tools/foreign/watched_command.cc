#include "stoker/tools/foreign/watched_command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/proc_text.h"
#include "stoker/base/short_text.h"
#include "stoker/io/descriptor.h"

extern char** environ;

namespace stoker {
namespace {

constexpr auto kTick = std::chrono::milliseconds(10);
constexpr double kSecondsToTerminate = 5;

// Whether a terminal sends its signals to this process.
bool InTheForeground() {
  const Descriptor terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  return terminal.valid() && ::tcgetpgrp(terminal.get()) == ::getpgrp();
}

Status CannotStart(const std::string& name, int error) {
  const std::string shown = ShortText(name);
  if (error == ENOENT)
    return NotFound("'{}' cannot be started: there is no such program; check its name and PATH",
                    shown);
  if (error == EACCES)
    return PermissionDenied(
        "'{}' cannot be started: it is no program, or you may not run it; name "
        "its interpreter too (python {})",
        shown, shown);
  return ErrnoStatus(error, fmt::format("starting '{}'", shown));
}

// This process's environment with other variables, of which it has none yet.
std::vector<std::string> EnvironmentWith(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> settings;
  for (char** each = environ; *each != nullptr; ++each) settings.emplace_back(*each);
  for (const auto& [name, value] : variables) settings.push_back(name + "=" + value);
  return settings;
}

// The children of this process, ended or not. A kernel may not list them.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  const std::string self = std::to_string(::getpid());
  const std::string text = ReadSmallText("/proc/self/task/" + self + "/children");
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (const auto pid = ParseCount(rest.substr(0, end)))
      children.push_back(static_cast<pid_t>(*pid));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return children;
}

}  // namespace

Result<WatchedCommand> WatchedCommand::Start(
    const std::vector<std::string>& words, bool output_to_error,
    const std::vector<std::pair<std::string, std::string>>& variables) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> settings = EnvironmentWith(variables);
  std::vector<char*> environment;
  for (std::string& setting : settings) environment.push_back(setting.data());
  environment.push_back(nullptr);
  const bool own_group = !InTheForeground();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (output_to_error) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // What this process ignores or blocks for itself, the program need not.
  sigset_t ours, none;
  ::sigemptyset(&ours);
  ::sigemptyset(&none);
  for (const int signal : {SIGXFSZ, SIGPIPE}) ::sigaddset(&ours, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &ours);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return CannotStart(words.front(), failed);
  return WatchedCommand(pid, own_group);
}

void WatchedCommand::Reap(const std::vector<pid_t>& except) {
  std::vector<pid_t> children = Children();
  if (!exit_code_) children.push_back(pid_);
  for (const pid_t child : children) {
    if (std::ranges::count(except, child) > 0) continue;
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child || child != pid_) continue;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

void WatchedCommand::PassOn(int signal) const {
  if (exit_code_) return;
  if (own_group_) {
    ::kill(-pid_, signal);
  } else if (signal != SIGINT) {  // the terminal has sent that one to both
    ::kill(pid_, signal);
  }
}

void WatchedCommand::End(const std::function<std::vector<int64_t>()>& tree, double patience_s,
                         const std::vector<pid_t>& except) {
  Stopwatch watch;
  double deadline = patience_s;
  int signal = 0;
  while (true) {
    Reap(except);
    const std::vector<int64_t> left = tree();
    if (left.empty() && exit_code_) return;
    if (watch.ElapsedSeconds() >= deadline || (signal == 0 && exit_code_)) {
      signal = signal == 0 ? SIGTERM : SIGKILL;
      deadline = watch.ElapsedSeconds() + kSecondsToTerminate;
      for (const int64_t pid : left) {
        ::kill(static_cast<pid_t>(pid), signal);
        ::kill(static_cast<pid_t>(pid), SIGCONT);  // one that is stopped ends too
      }
    }
    std::this_thread::sleep_for(kTick);
  }
}

}  // namespace stoker
