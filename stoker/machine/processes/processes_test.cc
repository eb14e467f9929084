// The lines are recorded ones: Linux 6.18, a Python program with a thread that computes.
#include <fmt/format.h>
#include <sys/syscall.h>

#include <fstream>

#include "stoker/base/testing.h"
#include "stoker/machine/processes/host_counters.h"
#include "stoker/machine/processes/proc_lines.h"
#include "stoker/machine/processes/process_reader.h"

namespace stoker::processes_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPython =
    "3748 (python3) S 3700 3748 3700 34816 3748 4194304 1544 12 7 3 118 9 1 2 20 0 2 0 5504321 "
    "92332032 2510 18446744073709551615 1 1 0 0 0 0 0 16781312 2 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 "
    "0 0";

std::string StatOf(int64_t pid, std::string_view name, char state, int64_t parent, int64_t start,
                   int64_t threads = 1) {
  return fmt::format("{} ({}) {} {} 1 1 0 -1 0 5 0 6 0 7 8 0 0 20 0 {} 0 {} 4096 3 0 0 0\n", pid,
                     name, state, parent, threads, start);
}

// A made-up /proc.
class Proc {
 public:
  void Write(const std::string& file, std::string_view text) {
    const std::filesystem::path path = root_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Add(int64_t pid, int64_t parent, int64_t start, std::string_view name = "x") {
    const std::string stat = StatOf(pid, name, 'S', parent, start);
    Write(fmt::format("{}/stat", pid), stat);
    Write(fmt::format("{}/task/{}/stat", pid, pid), stat);
    Write(fmt::format("{}/task/{}/schedstat", pid, pid), "1000 200 3\n");
    Write(fmt::format("{}/task/{}/syscall", pid, pid), fmt::format("{} 0x1 0x2\n", SYS_ppoll));
  }
  void Remove(int64_t pid) { std::filesystem::remove_all(root_.path() / std::to_string(pid)); }
  const std::filesystem::path& path() const { return root_.path(); }

 private:
  TempDir root_;
};

std::vector<int64_t> PidsOf(const std::vector<ProcessSample>& samples) {
  std::vector<int64_t> pids;
  for (const ProcessSample& each : samples) pids.push_back(each.pid);
  return pids;
}

TEST(ParseStat, ReadsARecordedLine) {
  const auto line = ParseStat(kPython);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->pid, 3748);
  EXPECT_EQ(line->parent, 3700);
  EXPECT_EQ(line->name, "python3");
  EXPECT_EQ(line->state, 'S');
  EXPECT_EQ(line->minor_faults, 1544);
  EXPECT_EQ(line->major_faults, 7);
  EXPECT_EQ(line->user_ticks, 118);
  EXPECT_EQ(line->system_ticks, 9);
  EXPECT_EQ(line->start, 5504321);
  EXPECT_EQ(line->memory_pages, 2510);
}

TEST(ParseStat, TakesNamesWithSpacesAndParentheses) {
  const auto line = ParseStat(StatOf(7, "a ) S 1 (b", 'R', 3, 9));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "a ) S 1 (b");
  EXPECT_EQ(line->state, 'R');
  EXPECT_EQ(line->parent, 3);
}

TEST(ParseStat, EveryProperPrefixThatLacksAFieldIsRefused) {
  const std::string text = kPython;
  const size_t memory = text.find(" 2510 ");
  for (size_t n = 0; n <= memory; ++n) EXPECT_FALSE(ParseStat(text.substr(0, n))) << n;
  EXPECT_FALSE(ParseStat("x (y) S 1"));
  EXPECT_FALSE(ParseStat(")("));
}

TEST(ParseSchedstat, ReadsTimesAndRefusesOthers) {
  const auto line = ParseSchedstat("123456 789 12");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->cpu_ns, 123456);
  EXPECT_EQ(line->queued_ns, 789);
  EXPECT_EQ(line->slices, 12);
  EXPECT_FALSE(ParseSchedstat(""));
  EXPECT_FALSE(ParseSchedstat("1"));
  EXPECT_FALSE(ParseSchedstat("a b c"));
}

TEST(StateOf, TellsWaitsApartByTheSystemCall) {
  const auto state = [](int64_t call) { return StateOf('S', fmt::format("{} 0x1", call), ""); };
  EXPECT_EQ(state(SYS_futex), ThreadState::kLock);
  EXPECT_EQ(state(SYS_clock_nanosleep), ThreadState::kSleep);
  EXPECT_EQ(state(SYS_poll), ThreadState::kPoll);
  EXPECT_EQ(state(SYS_epoll_wait), ThreadState::kPoll);
  EXPECT_EQ(state(SYS_recvfrom), ThreadState::kNetwork);
  EXPECT_EQ(state(SYS_read), ThreadState::kRead);
  EXPECT_EQ(state(SYS_wait4), ThreadState::kChild);
  EXPECT_EQ(state(9999), ThreadState::kOther);
  EXPECT_EQ(StateOf('S', "running", ""), ThreadState::kOther);
  EXPECT_EQ(StateOf('R', "", ""), ThreadState::kRunning);
  EXPECT_EQ(StateOf('D', "17 0x3", ""), ThreadState::kDisk);
  EXPECT_EQ(StateOf('Z', "", ""), ThreadState::kEnded);
  EXPECT_EQ(StateOf('T', "", ""), ThreadState::kOther);
}

TEST(StateOf, AWaitThatATracerInterruptedGoesByTheKernelsFunction) {
  const std::string call = fmt::format("{} 0x1", SYS_restart_syscall);
  EXPECT_TRUE(NeedsWchan(call));
  EXPECT_TRUE(NeedsWchan(""));
  EXPECT_FALSE(NeedsWchan("7 0x1"));
  EXPECT_FALSE(NeedsWchan("running"));
  EXPECT_EQ(StateOf('S', call, "do_poll"), ThreadState::kPoll);
  EXPECT_EQ(StateOf('S', call, "futex_wait_queue"), ThreadState::kLock);
  EXPECT_EQ(StateOf('S', call, "0"), ThreadState::kOther);
}

TEST(StateOf, WithoutTheSystemCallGoesByTheKernelsFunction) {
  EXPECT_EQ(StateOf('S', "", "futex_wait_queue"), ThreadState::kLock);
  EXPECT_EQ(StateOf('S', "", "poll_schedule_timeout.constprop.0"), ThreadState::kPoll);
  EXPECT_EQ(StateOf('S', "", "hrtimer_nanosleep"), ThreadState::kSleep);
  EXPECT_EQ(StateOf('S', "", "do_wait"), ThreadState::kChild);
  EXPECT_EQ(StateOf('S', "", "0"), ThreadState::kOther);
}

TEST(ProcessReader, FindsTheTreeOldestFirstAndNoOther) {
  Proc proc;
  proc.Add(10, 1, 100);
  proc.Add(12, 10, 101);
  proc.Add(11, 12, 102);  // its number has been used again
  proc.Add(20, 1, 50);
  proc.Write("self/stat", "no process");
  ProcessReader reader(10, /*with_top=*/true, proc.path());
  EXPECT_THAT(reader.Read(), IsEmpty());
  reader.FindTree();
  EXPECT_THAT(PidsOf(reader.Read()), ElementsAre(10, 12, 11));
  ProcessReader below(10, /*with_top=*/false, proc.path());
  below.FindTree();
  EXPECT_THAT(PidsOf(below.Read()), ElementsAre(12, 11));
}

TEST(ProcessReader, LeavesOutAHelperAndWhatItStarts) {
  Proc proc;
  proc.Add(10, 1, 100);
  proc.Add(12, 10, 101);
  proc.Add(13, 12, 102);
  proc.Add(14, 10, 103);
  ProcessReader reader(10, /*with_top=*/false, proc.path());
  reader.Exclude(12);
  reader.FindTree();
  EXPECT_THAT(PidsOf(reader.Read()), ElementsAre(14));
}

TEST(ProcessReader, KeepsAProcessWhoseParentHasEnded) {
  Proc proc;
  proc.Add(10, 1, 100);
  proc.Add(12, 10, 101);
  proc.Add(13, 12, 102);
  ProcessReader reader(10, /*with_top=*/true, proc.path());
  reader.FindTree();
  proc.Remove(12);
  proc.Add(13, 1, 102);
  reader.FindTree();
  EXPECT_THAT(PidsOf(reader.Read()), ElementsAre(10, 13));
  proc.Add(13, 1, 500);  // another process has the number now
  EXPECT_THAT(PidsOf(reader.Read()), ElementsAre(10));
  reader.FindTree();
  EXPECT_THAT(PidsOf(reader.Read()), ElementsAre(10));
}

TEST(ProcessReader, ReadsThreadsTheFirstOneFirst) {
  Proc proc;
  proc.Add(10, 1, 100, "python3");
  proc.Write("10/task/9/stat", StatOf(9, "y", 'R', 1, 100));
  proc.Write("10/task/9/schedstat", "5 6 7");
  proc.Write("10/io", "rchar: 77\nwchar: 0\nsyscr: 1\nsyscw: 0\nread_bytes: 55\n");
  ProcessReader reader(10, /*with_top=*/true, proc.path());
  reader.FindTree();
  const std::vector<ProcessSample> samples = reader.Read();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].name, "python3");
  EXPECT_EQ(samples[0].disk_bytes, 55);
  EXPECT_EQ(samples[0].read_bytes, 77);
  ASSERT_EQ(samples[0].threads.size(), 2u);
  EXPECT_EQ(samples[0].threads[0].id, 10);
  EXPECT_EQ(samples[0].threads[0].state, ThreadState::kPoll);
  EXPECT_EQ(samples[0].threads[0].cpu_ns, 1000);
  EXPECT_EQ(samples[0].threads[1].state, ThreadState::kRunning);
  EXPECT_EQ(samples[0].threads[1].queued_ns, 6);
  EXPECT_TRUE(reader.sees_calls());
}

TEST(ProcessReader, WhatMayNotBeReadIsLeftOut) {
  Proc proc;
  proc.Add(10, 1, 100);
  std::filesystem::remove(proc.path() / "10/task/10/syscall");
  proc.Write("10/task/10/wchan", "futex_wait_queue");
  ProcessReader reader(10, /*with_top=*/true, proc.path());
  reader.FindTree();
  const std::vector<ProcessSample> samples = reader.Read();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_FALSE(samples[0].disk_bytes);
  EXPECT_EQ(samples[0].threads[0].state, ThreadState::kLock);
  EXPECT_FALSE(reader.sees_calls());
}

TEST(ProcessReader, AThreadThatIsGoneAndAZombieAreNoError) {
  Proc proc;
  proc.Add(10, 1, 100);
  proc.Write("10/stat", StatOf(10, "x", 'Z', 1, 100));
  proc.Add(11, 10, 101);
  proc.Write("11/task/12/stat", "");
  ProcessReader reader(10, /*with_top=*/true, proc.path());
  reader.FindTree();
  const std::vector<ProcessSample> samples = reader.Read();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_TRUE(samples[0].ended);
  EXPECT_THAT(samples[0].threads, IsEmpty());
  EXPECT_EQ(samples[1].threads[1].state, ThreadState::kOther);
}

TEST(ProcessReader, AProcessWhoseFirstThreadAloneHasEndedGoesOn) {
  Proc proc;
  proc.Add(10, 1, 100);
  proc.Write("10/stat", StatOf(10, "x", 'Z', 1, 100, /*threads=*/2));
  proc.Write("10/task/10/stat", StatOf(10, "x", 'Z', 1, 100, 2));
  proc.Write("10/task/12/stat", StatOf(12, "x", 'R', 1, 100, 2));
  ProcessReader reader(10, /*with_top=*/true, proc.path());
  reader.FindTree();
  const std::vector<ProcessSample> samples = reader.Read();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_FALSE(samples[0].ended);
  EXPECT_EQ(samples[0].threads.at(1).state, ThreadState::kRunning);
}

TEST(CommandLineOf, SplitsAtZeroBytesAndNamesWhatShowsNone) {
  Proc proc;
  proc.Add(10, 1, 100, "kworker");
  EXPECT_THAT(CommandLineOf(10, proc.path()), ElementsAre("[kworker]"));
  proc.Write("10/cmdline", std::string_view("python3\0-c\0a b\0", 15));
  EXPECT_THAT(CommandLineOf(10, proc.path()), ElementsAre("python3", "-c", "a b"));
  EXPECT_THAT(CommandLineOf(11, proc.path()), ElementsAre("[?]"));
}

TEST(ReadHostCounters, ReadsPressureSwapQuotaAndDisks) {
  Proc root;
  root.Write("proc/pressure/cpu", "some avg10=2.63 avg60=1.37 avg300=1.55 total=11179861317\n");
  root.Write("proc/pressure/io",
             "some avg10=0.51 avg60=0.58 avg300=0.45 total=2000000\nfull avg10=0.48 total=9\n");
  root.Write("proc/vmstat", "pswpin 3\npswpout 4\npswpinx 9\nthp_fault_alloc 5\n");
  root.Write("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
  root.Write("proc/self/cgroup", "0::/\n");
  root.Write("sys/fs/cgroup/cpu.stat", "usage_usec 1\nnr_periods 40\nnr_throttled 30\n");
  root.Write("proc/diskstats",
             " 254 0 vda 100 0 800 10 5 0 40 5 0 321 15 0 0 0 0 0 0\n"
             " 254 1 vda1 100 0 800 10 5 0 40 5 0 321 15 0 0 0 0 0 0\n");
  root.Write("sys/block/vda/size", "1");
  root.Write("sys/fs/cgroup/memory.current", "600\n");
  root.Write("sys/fs/cgroup/memory.max", "800\n");
  root.Write("proc/net/dev",
             "Inter-|   Receive  |  Transmit\n face |bytes packets\n"
             "    lo: 5000 1 0 0 0 0 0 0 5000 1 0 0 0 0 0 0\n"
             "  eth0: 1000 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n"
             "  eth1: 30 1 0 0 0 0 0 0 4 1 0 0 0 0 0 0\n");
  root.Write("proc/loadavg", "0.10 0.20 0.30 3/120 99\n");
  const HostCounters counters = ReadHostCounters(root.path());
  EXPECT_DOUBLE_EQ(counters.cpu_pressure_s.value_or(0), 11179.861317);
  EXPECT_DOUBLE_EQ(counters.disk_pressure_s.value_or(0), 2);
  EXPECT_FALSE(counters.memory_pressure_s);
  EXPECT_EQ(counters.swapped_pages, 7);
  EXPECT_EQ(counters.huge_page_bytes, 5 * 2097152);
  EXPECT_EQ(counters.periods, 40);
  EXPECT_EQ(counters.throttled_periods, 30);
  EXPECT_EQ(counters.disk_busy_ms, (std::map<std::string, int64_t>{{"vda", 321}}));
  EXPECT_EQ(counters.received_bytes, 1030);
  EXPECT_EQ(counters.sent_bytes, 204);
  EXPECT_EQ(counters.group_memory_share, 0.75);
  EXPECT_EQ(counters.runnable, 3);
}

TEST(ReadHostCounters, OfAKernelWithoutThemAreEmpty) {
  Proc root;
  const HostCounters counters = ReadHostCounters(root.path());
  EXPECT_FALSE(counters.cpu_pressure_s);
  EXPECT_FALSE(counters.swapped_pages);
  EXPECT_FALSE(counters.huge_page_bytes);
  EXPECT_FALSE(counters.periods);
  EXPECT_FALSE(counters.received_bytes);
  EXPECT_FALSE(counters.group_memory_share);
  EXPECT_FALSE(counters.shared_memory_share);
  EXPECT_THAT(counters.disk_busy_ms, IsEmpty());
  EXPECT_EQ(counters.runnable, 0);
}

}  // namespace stoker::processes_test
