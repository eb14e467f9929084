#include "stoker/tools/program/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/io/descriptor.h"

extern char** environ;

namespace stoker {
namespace {

constexpr int kTickMilliseconds = 50;
constexpr double kPatienceSeconds = 30;

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> MakePipe() {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "making a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// Starts the program with these ends as its output and error, and nothing as its input. It has a
// process group of its own: ^C in a terminal goes to this process alone, which then asks the child
// to stop once. Sent to both, it would be the child's first of two signals, the second of which
// ends a program before it has removed what it made.
Result<pid_t> Spawn(const std::vector<std::string>& words, int out, int error) {
  std::string self = "/proc/self/exe";
  std::vector<std::string> copies = words;
  std::vector<char*> argv = {self.data()};
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, self.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return ErrnoStatus(failed, "starting a process that measures");
  return child;
}

// Reads what is there; false at the end.
bool ReadSome(int descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// Reads both to their ends. A child that is asked to stop closes them; one that does not within
// kPatienceSeconds is killed.
void ReadBoth(const Pipe& out, const Pipe& error, pid_t child, const std::atomic<bool>& stop,
              std::string& out_text, std::string& error_text) {
  std::array<pollfd, 2> polled = {pollfd{.fd = out.read.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = error.read.get(), .events = POLLIN, .revents = 0}};
  std::optional<Stopwatch> told;
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    ::poll(polled.data(), polled.size(), kTickMilliseconds);
    if (stop && !told) {
      ::kill(child, SIGTERM);
      told.emplace();
    }
    if (told && told->ElapsedSeconds() > kPatienceSeconds) ::kill(child, SIGKILL);
    for (pollfd& each : polled) {
      if (each.fd < 0 || each.revents == 0) continue;
      if (!ReadSome(each.fd, &each == polled.data() ? out_text : error_text)) each.fd = -1;
    }
  }
}

// "stoker: error: ..." without its beginning.
std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t line = text.rfind('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  constexpr std::string_view kPrefix = "stoker: error: ";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

}  // namespace

Result<std::string> OutputOfThisProgram(const std::vector<std::string>& words,
                                        const std::atomic<bool>& stop) {
  STOKER_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  STOKER_ASSIGN_OR_RETURN(Pipe error, MakePipe());
  STOKER_ASSIGN_OR_RETURN(const pid_t child, Spawn(words, out.write.get(), error.write.get()));
  out.write = Descriptor();
  error.write = Descriptor();
  std::string out_text, error_text;
  ReadBoth(out, error, child, stop, out_text, error_text);
  int ended = 0;
  while (::waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (stop) return Cancelled("stopped while a change was tried");
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return out_text;
  return FailedPrecondition(
      "{}", error_text.empty() ? "a process that measures has been ended" : LastLine(error_text));
}

}  // namespace stoker
