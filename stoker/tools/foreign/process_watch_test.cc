#include "stoker/tools/foreign/process_watch.h"

#include "stoker/base/testing.h"
#include "stoker/tools/foreign/process_facts.h"

namespace stoker::process_watch_test {

using testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

ProcessSample Sample(int64_t pid, int64_t parent, ThreadState state, int64_t cpu_ns = 0,
                     int64_t queued_ns = 0) {
  return {.pid = pid,
          .parent = parent,
          .start = 100 + pid,
          .name = "python3",
          .user_ticks = cpu_ns / 10'000'000,
          .threads = {{.id = pid, .state = state, .cpu_ns = cpu_ns, .queued_ns = queued_ns}}};
}

ProcessTimes Times(int64_t pid, double cpus, ThreadTimes first = {}) {
  return {.pid = pid, .command = {}, .seconds = 10, .first = first, .others = {}, .cpus = cpus};
}

TEST(ProcessWatch, SharesAreOfCountersFirstAndOfSamplesForTheRest) {
  ProcessWatch watch;
  // One second: 0.4 s of CPU, 0.2 s without one, and the rest half in a lock and half in poll.
  watch.Add({{Sample(10, 1, ThreadState::kRunning, 0, 0)}}, 0);
  watch.Add({{Sample(10, 1, ThreadState::kLock, kSecond / 5, kSecond / 10)}}, kSecond / 2);
  watch.Add({{Sample(10, 1, ThreadState::kPoll, 2 * kSecond / 5, kSecond / 5)}}, kSecond);
  watch.SetCommand(10, {"python3", "my script.py"});
  const std::vector<ProcessTimes> times = watch.Times();
  ASSERT_EQ(times.size(), 1u);
  const ThreadTimes& first = times[0].first;
  EXPECT_NEAR(first.cpu, 0.4, 1e-9);
  EXPECT_NEAR(first.queued, 0.2, 1e-9);
  EXPECT_NEAR(first.lock, 0.2, 1e-9);
  EXPECT_NEAR(first.poll, 0.2, 1e-9);
  EXPECT_NEAR(times[0].seconds, 1, 1e-9);
  EXPECT_EQ(times[0].command, "python3 'my script.py'");
  EXPECT_EQ(times[0].role, ProcessRole::kMain);
}

TEST(ProcessWatch, SwitchesOfAllThreadsAreAddedUp) {
  ProcessWatch watch;
  ProcessSample sample = Sample(10, 1, ThreadState::kLock);
  sample.threads.push_back({.id = 11, .state = ThreadState::kLock, .slices = 7});
  watch.Add({{sample}}, 0);
  sample.threads[0].slices = 100;
  sample.threads[1].slices = 27;
  watch.Add({{sample}}, 2 * kSecond);
  ASSERT_EQ(watch.Times().size(), 1u);
  EXPECT_NEAR(watch.Times()[0].switches_per_s, 60, 1e-9);
}

TEST(ProcessWatch, AProcessThatWasSeenOnceIsLeftOut) {
  ProcessWatch watch;
  EXPECT_THAT(watch.Times(), IsEmpty());
  watch.Add({{Sample(10, 1, ThreadState::kRunning)}}, 0);
  EXPECT_THAT(watch.Times(), IsEmpty());
}

TEST(HostTimesBetween, RatesAreOfCountersAndSharesOfTheEnd) {
  const HostCounters begin{.swapped_pages = 5, .received_bytes = 1000, .group_memory_share = 0.2};
  const HostCounters end{
      .swapped_pages = 5, .received_bytes = 5000, .sent_bytes = 10, .group_memory_share = 0.9};
  const HostTimes times = HostTimesBetween(begin, end, 2);
  EXPECT_EQ(times.received_bytes_per_s, 2000);
  EXPECT_EQ(times.sent_bytes_per_s, 0);  // it was not counted at the beginning
  EXPECT_EQ(times.swapped_bytes_per_s, 0);
  EXPECT_EQ(times.group_memory_share, 0.9);
  EXPECT_EQ(times.shared_memory_share, std::nullopt);
}

TEST(ProcessWatch, AZombieAddsNoTime) {
  ProcessWatch watch;
  watch.Add({{Sample(10, 1, ThreadState::kRunning)}}, 0);
  watch.Add({{Sample(10, 1, ThreadState::kRunning, kSecond)}}, kSecond);
  ProcessSample ended = Sample(10, 1, ThreadState::kEnded);
  ended.ended = true;
  watch.Add({{ended}}, 100 * kSecond);
  ASSERT_EQ(watch.Times().size(), 1u);
  EXPECT_NEAR(watch.Times()[0].seconds, 1, 1e-9);
  EXPECT_NEAR(watch.Times()[0].first.cpu, 1, 1e-9);
}

TEST(ProcessWatch, ANumberThatIsUsedAgainIsAnotherProcess) {
  ProcessWatch watch;
  watch.Add({{Sample(10, 1, ThreadState::kRunning, 5 * kSecond)}}, 0);
  watch.Add({{Sample(10, 1, ThreadState::kRunning, 6 * kSecond)}}, kSecond);
  ProcessSample other = Sample(10, 1, ThreadState::kSleep, 0);
  other.start = 999;
  watch.Add({{other}}, 2 * kSecond);
  watch.Add({{other}}, 3 * kSecond);
  EXPECT_EQ(watch.Times().size(), 2u);
}

TEST(ProcessWatch, WantsACommandAgainWhenAProcessBecomesAnother) {
  ProcessWatch watch;
  ProcessSample sample = Sample(10, 1, ThreadState::kRunning);
  EXPECT_FALSE(watch.WantsCommand(sample));
  watch.Add({{sample}}, 0);
  EXPECT_TRUE(watch.WantsCommand(sample));
  watch.SetCommand(10, {"[sh]"});  // it was about to become it
  EXPECT_TRUE(watch.WantsCommand(sample));
  watch.SetCommand(10, {"sh"});
  EXPECT_FALSE(watch.WantsCommand(sample));
  sample.name = "train";
  EXPECT_TRUE(watch.WantsCommand(sample));
}

TEST(AssignRoles, TheFirstBelowShellsAndLaunchersTrains) {
  std::vector<ProcessTimes> processes = {
      Times(10, 0, {.child = 1}), Times(11, 0.01, {.sleep = 0.99}), Times(12, 0.2, {.poll = 0.9}),
      Times(13, 0.9), Times(14, 0.0)};
  AssignRoles(processes, {{10, 1}, {11, 10}, {12, 11}, {13, 12}, {14, 12}},
              {{10, {"sh", "-c", "x"}},
               {11, {"torchrun", "train.py"}},
               {12, {"python", "train.py"}},
               {13, {"python", "train.py"}},
               {14, {"python", "-c", "from multiprocessing.resource_tracker import main"}}});
  EXPECT_EQ(processes[0].role, ProcessRole::kOther);
  EXPECT_EQ(processes[1].role, ProcessRole::kOther);
  EXPECT_EQ(processes[2].role, ProcessRole::kMain);
  EXPECT_EQ(processes[3].role, ProcessRole::kWorker);
  EXPECT_EQ(processes[4].role, ProcessRole::kOther);
}

TEST(AssignRoles, ProcessesOfMultiprocessingAreWorkersAndOtherProgramsAreNot) {
  std::vector<ProcessTimes> processes = {Times(10, 0.5), Times(11, 0.5), Times(12, 0.5)};
  AssignRoles(processes, {{10, 1}, {11, 10}, {12, 10}},
              {{10, {"python", "train.py"}},
               {11, {"python", "-c", "from multiprocessing.spawn import spawn_main"}},
               {12, {"ffmpeg"}}});
  EXPECT_EQ(processes[1].role, ProcessRole::kWorker);
  EXPECT_EQ(processes[2].role, ProcessRole::kOther);
}

TEST(AssignRoles, OfNoProcessesIsNothing) {
  std::vector<ProcessTimes> none;
  AssignRoles(none, {}, {});
  EXPECT_THAT(none, IsEmpty());
}

}  // namespace stoker::process_watch_test
