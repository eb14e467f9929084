#include "stoker/tools/top/process_source.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::process_source_test {

// A process that sleeps until it is ended, which the destructor does.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ != 0) return;
    while (true) ::pause();
  }
  ~Sleeper() { End(); }
  void End() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(ProcessSource, OfNoProcessAndOfThisOneSaysSo) {
  EXPECT_THAT(ProcessSource::Open(std::numeric_limits<int>::max()),
              FailsWith(StatusCode::kNotFound, "there is no such process"));
  EXPECT_THAT(ProcessSource::Open(::getpid()),
              FailsWith(StatusCode::kInvalidArgument, "`stoker top` itself"));
}

TEST(ProcessSource, WatchesAProcessUntilItEnds) {
  Sleeper sleeper;
  ASSERT_GT(sleeper.pid(), 0);
  STOKER_ASSERT_OK_AND_ASSIGN(ProcessSource source, ProcessSource::Open(sleeper.pid()));
  TopHistory history;
  history.samples.emplace_back();
  // Two looks, of which the second is later.
  EXPECT_GT(source.LookAtThreads(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  source.LookAtThreads();
  source.Look(history);
  EXPECT_EQ(history.state, TopState::kRunning);
  EXPECT_FALSE(history.command.empty());
  ASSERT_EQ(history.processes.size(), 1u);
  EXPECT_EQ(history.processes[0].pid, sleeper.pid());
  EXPECT_GE(history.processes[0].threads, 1);  // ThreadSanitizer has one of its own
  EXPECT_FALSE(history.verdict);               // too little was seen
  sleeper.End();
  source.Look(history);
  EXPECT_EQ(history.state, TopState::kEnded);
  EXPECT_EQ(history.state_text, "has ended");
  EXPECT_TRUE(history.processes.empty());
}

TEST(ProcessSource, AZombieHasEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ASSERT_GT(pid, 0);
  siginfo_t info = {};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  EXPECT_THAT(ProcessSource::Open(pid), FailsWith(StatusCode::kNotFound, "no such process"));
  ::waitpid(pid, nullptr, 0);
}

}  // namespace stoker::process_source_test
