#include "stoker/tools/launch/rank_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "stoker/tools/program/print.h"

extern char** environ;

namespace stoker {
namespace {

constexpr size_t kLongestLine = size_t{64} << 10;

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> MakePipe() {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "making a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentOf(const RankPlace& place) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return WithVariables(environment, RankVariables(place));
}

cpu_set_t SetOf(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return set;
}

// Everything that the new process needs, made before fork().
struct Prepared {
  std::vector<char*> argv, environment;
  cpu_set_t cpus;
  bool on_cpus = false;
  int out = -1, error = -1, input = -1, listener = -1;
  pid_t parent = 0;
};

// In the new process: only what POSIX allows between fork() and exec.
[[noreturn]] void Become(const Prepared& prepared) {
  ::setpgid(0, 0);
  // When this process ends, by kill -9 too, the signal that stores a checkpoint comes.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != prepared.parent) ::_exit(1);
  if (prepared.on_cpus) ::sched_setaffinity(0, sizeof(prepared.cpus), &prepared.cpus);
  ::dup2(prepared.input, STDIN_FILENO);
  ::dup2(prepared.out, STDOUT_FILENO);
  ::dup2(prepared.error, STDERR_FILENO);
  if (prepared.listener >= 0) ::fcntl(prepared.listener, F_SETFD, 0);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve("/proc/self/exe", prepared.argv.data(), prepared.environment.data());
  ::_exit(127);
}

}  // namespace

// --- RankOutput

void RankOutput::Pass() {
  std::array<char, 16 << 10> buffer;
  const ssize_t count = ::read(from_.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    Finish();
    return;
  }
  begun_.append(buffer.data(), static_cast<size_t>(count));
  const size_t end = begun_.rfind('\n');
  if (end == begun_.npos && begun_.size() < kLongestLine) return;
  const size_t whole = end == begun_.npos ? begun_.size() : end + 1;
  Print(std::string_view(begun_).substr(0, whole));
  begun_.erase(0, whole);
}

void RankOutput::Finish() {
  if (!begun_.empty()) Print(begun_);
  begun_.clear();
  from_ = Descriptor();
}

void RankOutput::Print(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    text += prefix_;
    text += lines.substr(0, end);
    text += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  PrintProgress(to_, text);
}

// --- RankProcess

Result<RankProcess> RankProcess::Start(const RankOptions& options) {
  STOKER_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  STOKER_ASSIGN_OR_RETURN(Pipe error, MakePipe());
  const Descriptor input = OpenUninterrupted("/dev/null", O_RDONLY | O_CLOEXEC);
  Descriptor log;
  if (!options.log.empty()) {
    log = OpenUninterrupted(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    if (!log.valid()) return ErrnoStatus(errno, fmt::format("{}: opening it", options.log));
  }
  std::vector<std::string> words = options.words;
  words.insert(words.begin(), "stoker");
  std::vector<std::string> environment = EnvironmentOf(options.place);
  const Prepared prepared{.argv = PointersTo(words),
                          .environment = PointersTo(environment),
                          .cpus = SetOf(options.cpus),
                          .on_cpus = !options.cpus.empty(),
                          .out = log.valid() ? log.get() : out.write.get(),
                          .error = log.valid() ? log.get() : error.write.get(),
                          .input = input.get(),
                          .listener = options.place.listener,
                          .parent = ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoStatus(errno, fmt::format("starting rank {}", options.place.rank));
  if (pid == 0) Become(prepared);
  RankProcess process(options.place.rank, pid);
  if (!log.valid()) {
    const std::string prefix =
        options.place.world > 1 ? fmt::format("[{}] ", options.place.rank) : std::string();
    process.outputs_.emplace_back(std::move(out.read), stdout, prefix);
    process.outputs_.emplace_back(std::move(error.read), stderr, prefix);
  }
  return process;
}

void RankProcess::Poll() {
  int status = 0;
  if (!end_ && ::waitpid(pid_, &status, WNOHANG) == pid_) end_ = status;
}

void RankProcess::Signal(int number) const {
  if (!end_) ::kill(pid_, number);
}

}  // namespace stoker
