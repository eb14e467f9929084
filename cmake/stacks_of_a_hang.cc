#include "stacks_of_a_hang.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace {

constexpr unsigned kSeconds = 25 * 60;

// ThreadSanitizer calls handlers when the thread's system call has returned, which one that is
// restarted does not.
#ifdef __SANITIZE_THREAD__
constexpr int kRestart = 0;
#else
constexpr int kRestart = SA_RESTART;
#endif

pid_t process = 0;  // which has the alarm
std::atomic<int> written{0};

// What handlers call takes no lock that a thread of a test may hold, but for that of the loader
// (backtrace_symbols_fd): hence system calls rather than opendir() and printf().
void Write(const char* text) {
  [[maybe_unused]] const ssize_t size = ::write(STDERR_FILENO, text, std::strlen(text));
}

void WriteOwnStack(int) {
  constexpr int kMostFrames = 64;
  const int error_before = errno;
  void* frames[kMostFrames];
  char number[16] = {};
  std::to_chars(number, number + sizeof(number) - 1, ::gettid());
  Write("\nthread ");
  Write(number);
  Write(":\n");
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kMostFrames), STDERR_FILENO);
  ++written;
  errno = error_before;
}

// Lets a thread write its stack, and waits for it: one after the other. Some never do, since they
// hang in the loader or let no signal through.
void Ask(pid_t thread) {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  const int before = written;
  ::syscall(SYS_tgkill, process, thread, SIGUSR2);
  for (int i = 0; i < 100 && written == before; ++i) ::nanosleep(&kPause, nullptr);
}

void AskAllThreads(int) {
  if (::getpid() != process) {  // a child of fork() with an alarm of its own, which is to end it
    ::signal(SIGALRM, SIG_DFL);
    ::raise(SIGALRM);
    return;
  }
  const int error_before = errno;
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(dirent64) char entries[4096];
  long size = 0;
  while ((size = ::syscall(SYS_getdents64, tasks, entries, sizeof(entries))) > 0) {
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      pid_t thread = 0;
      std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), thread);
      if (thread != 0) Ask(thread);  // not "." and ".."
    }
  }
  ::close(tasks);
  errno = error_before;
}

void OnSignal(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = kRestart;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void WriteStacksOfAHang() {
  process = ::getpid();
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // loads what it needs, which a handler must not
  OnSignal(SIGUSR2, WriteOwnStack);
  OnSignal(SIGALRM, AskAllThreads);
  ::alarm(kSeconds);
}
