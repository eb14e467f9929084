#include "stacks_of_a_hang.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace {

constexpr unsigned kSeconds = 25 * 60;

// What handlers call must not take a lock, which a thread that hangs may hold: hence system calls
// rather than opendir() and printf().
void Write(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void WriteOwnStack(int) {
  constexpr int kMostFrames = 64;
  void* frames[kMostFrames];
  char number[16] = {};
  std::to_chars(number, number + sizeof(number) - 1, ::gettid());
  Write("\nthread ");
  Write(number);
  Write(":\n");
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kMostFrames), STDERR_FILENO);
}

void AskAllThreads(int) {
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(dirent64) char entries[4096];
  long size = 0;
  while ((size = ::syscall(SYS_getdents64, tasks, entries, sizeof(entries))) > 0) {
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      pid_t thread = 0;
      std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), thread);
      if (thread == 0) continue;  // "." and ".."
      ::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR2);
      constexpr timespec kOneByOne{.tv_sec = 0, .tv_nsec = 50'000'000};
      ::nanosleep(&kOneByOne, nullptr);
    }
  }
  ::close(tasks);
}

void OnSignal(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void WriteStacksOfAHang() {
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // loads what it needs, which a handler must not
  OnSignal(SIGUSR2, WriteOwnStack);
  OnSignal(SIGALRM, AskAllThreads);
  ::alarm(kSeconds);
}
