#include "stoker/base/trace.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/base/trace_recorder.h"
#include "stoker/base/worker_group.h"

namespace stoker::trace_test {

using testing::ElementsAre;
using testing::SizeIs;

struct Taken {
  TraceThread thread;
  TraceEvent event;
};

std::vector<Taken> Drained(TraceRecorder& recorder) {
  std::vector<Taken> taken;
  recorder.Drain([&](const TraceThread& thread, std::span<const TraceEvent> events) {
    for (const TraceEvent& event : events) taken.push_back({thread, event});
  });
  return taken;
}

std::vector<std::string> NamesOf(const std::vector<Taken>& taken) {
  std::vector<std::string> names;
  for (const Taken& each : taken) names.emplace_back(each.event.name);
  return names;
}

// A span of the calling thread with times that are made up.
void Record(TraceName name, int64_t begin_ns, int64_t end_ns) {
  TraceSpan span(name, TraceKind::kWork, begin_ns);
  span.EndAt(end_ns);
}

// Each lasts 1 ms, so none is brief, and all follow each other.
void RecordLongOnes(int count) {
  constexpr int64_t kMs = 1'000'000;
  for (int i = 1; i <= count; ++i) Record("long", i * kMs, (i + 1) * kMs);
}

TEST(TraceName, OfEqualTextsIsTheSameAndOutlivesThem) {
  std::string text = "decode";
  const TraceName name = TraceName::Intern(text);
  text = "gone";
  EXPECT_STREQ(name.text(), "decode");
  EXPECT_EQ(TraceName::Intern("decode").text(), name.text());
  EXPECT_STREQ(TraceName::Intern("").text(), "");
}

TEST(TraceName, OfAChildOfForkDoesNotWaitForAThreadOfItsParent) {
  std::atomic<bool> done{false};
  std::thread asking([&] {
    while (!done) TraceName::Intern("asked for all the time");
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // what waits for ever is ended
      ::_exit(TraceName::Intern("child").text() == nullptr ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  done = true;
  asking.join();
}

TEST(TraceSpan, IsRecordedWithItsThreadItsNameItsKindAndItsTimes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  const int64_t before = NowNs();
  { const TraceSpan span("wait", TraceKind::kMemory); }
  const int64_t after = NowNs();
  const std::vector<Taken> taken = Drained(*recorder);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].thread.name, "main");
  EXPECT_GT(taken[0].thread.id, 0);
  EXPECT_STREQ(taken[0].event.name, "wait");
  EXPECT_EQ(taken[0].event.kind, TraceKind::kMemory);
  EXPECT_GE(taken[0].event.begin_ns, before);
  EXPECT_LE(taken[0].event.begin_ns, taken[0].event.end_ns);
  EXPECT_LE(taken[0].event.end_ns, after);
  EXPECT_THAT(Drained(*recorder), SizeIs(0)) << "what was handed over once is handed over again";
}

TEST(TraceSpan, ThatBeginsBeforeTheRecorderOrAfterItsStopIsNotRecorded) {
  {
    const TraceSpan before("before");
    STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
    EXPECT_TRUE(TraceIsOn());
    { const TraceSpan inside("inside"); }
    recorder->Stop();
    EXPECT_FALSE(TraceIsOn());
    { const TraceSpan after("after"); }
    EXPECT_THAT(NamesOf(Drained(*recorder)), ElementsAre("inside"));
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const auto next, TraceRecorder::Start());
  EXPECT_THAT(Drained(*next), SizeIs(0)) << "of another recorder";
}

TEST(TraceSpan, ThatOutlivesItsRecorderDoesNoHarmAndLeavesTheNextOneClean) {
  {
    STOKER_ASSERT_OK_AND_ASSIGN(auto recorder, TraceRecorder::Start());
    const TraceSpan outside("outside");
    recorder.reset();
    STOKER_ASSERT_OK_AND_ASSIGN(const auto next, TraceRecorder::Start());
    { const TraceSpan inside("inside"); }  // of a thread whose buffer is still the other's
    EXPECT_THAT(NamesOf(Drained(*next)), ElementsAre());
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const auto third, TraceRecorder::Start());
  { const TraceSpan span("again"); }
  EXPECT_THAT(NamesOf(Drained(*third)), ElementsAre("again"));
}

TEST(TraceSpan, WithoutABeginningIsNotRecorded) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  Record("nothing", 0, 5);
  EXPECT_THAT(Drained(*recorder), SizeIs(0));
}

TEST(TraceRecorder, IsOneAtATime) {
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
    EXPECT_THAT(TraceRecorder::Start(), FailsWith(StatusCode::kFailedPrecondition, "already"));
  }
  STOKER_EXPECT_OK(TraceRecorder::Start());
}

TEST(TraceRecorder, SumsTimeByStackAndGivesEachSpanItsOwnAndThatOfThoseInside) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  for (int i = 0; i < 2; ++i) {
    TraceSpan step("step", TraceKind::kWork, 1000);
    Record("forward", 1100, 1300);
    Record("backward", 1300, 1700);
    step.EndAt(2000);
  }
  Record("forward", 3000, 3050);  // not in a step
  const std::vector<TraceThreadStacks> threads = recorder->Stacks();
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(threads[0].thread, "main");
  ASSERT_THAT(threads[0].stacks, SizeIs(2));
  const TraceStack& step = threads[0].stacks[1];
  EXPECT_EQ(step.name, "step");
  EXPECT_EQ(step.total_ns, 2000);
  EXPECT_EQ(step.count, 2);
  EXPECT_EQ(step.self_ns(), 800);
  ASSERT_THAT(step.children, SizeIs(2));
  EXPECT_EQ(step.children[0].name, "backward");
  EXPECT_EQ(step.children[0].total_ns, 800);
  EXPECT_EQ(threads[0].stacks[0].total_ns, 50);
}

TEST(TraceRecorder, SumsASpanThatStandsForOthersAndKeepsUntimedOnesAroundOthers) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  {
    TraceSpan timed("line", TraceKind::kWork, 1000);
    Record("read", 1100, 1200);
    timed.EndAt(1300, /*stands_for=*/8);
  }
  {
    const TraceSpan untimed("line", TraceKind::kWork, 0);
    Record("read", 2100, 2400);
  }
  EXPECT_THAT(NamesOf(Drained(*recorder)), ElementsAre("read", "line", "read"));
  const std::vector<TraceThreadStacks> threads = recorder->Stacks();
  ASSERT_THAT(threads, SizeIs(1));
  ASSERT_THAT(threads[0].stacks, SizeIs(1));
  const TraceStack& line = threads[0].stacks[0];
  EXPECT_EQ(line.total_ns, 8 * 300);
  EXPECT_EQ(line.count, 8);
  ASSERT_THAT(line.children, SizeIs(1));
  EXPECT_EQ(line.children[0].total_ns, 100 + 300);
}

TEST(TraceRecorder, GivesASpanThatHasNotEndedTheTimeOfThoseInside) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  const TraceSpan open("evaluation");
  Record("forward", 100, 400);
  const std::vector<TraceThreadStacks> threads = recorder->Stacks();
  ASSERT_THAT(threads, SizeIs(1));
  ASSERT_THAT(threads[0].stacks, SizeIs(1));
  EXPECT_EQ(threads[0].stacks[0].name, "evaluation");
  EXPECT_EQ(threads[0].stacks[0].total_ns, 300);
  EXPECT_EQ(threads[0].stacks[0].count, 0);
}

TEST(TraceRecorder, KeepsWhatThreadsHaveRecordedThatAreGoneAndSumsThoseOfOneName) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  const auto work = [](int) { Record("decode", 1000, 1500); };
  { const WorkerGroup first = *WorkerGroup::Start(3, "worker", work); }
  EXPECT_THAT(Drained(*recorder), SizeIs(3));
  { const WorkerGroup second = *WorkerGroup::Start(2, "worker", work); }
  std::map<std::string, int> events;
  for (const Taken& each : Drained(*recorder)) ++events[each.thread.name];
  EXPECT_EQ(events, (std::map<std::string, int>{{"worker0", 1}, {"worker1", 1}}));
  const std::vector<TraceThreadStacks> threads = recorder->Stacks();
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(threads[0].thread, "worker");
  EXPECT_EQ(threads[0].threads, 5);
  EXPECT_EQ(threads[0].stacks[0].total_ns, 5 * 500);
}

TEST(TraceRecorder, LeavesOutBriefSpansThatComeTooOftenAndCountsThemButSumsThem) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  constexpr int kSpans = 1000;
  const int64_t begin = 5 * kTraceSliceNs;
  for (int i = 0; i < kSpans; ++i) Record("brief", begin + i, begin + i + 1);
  Record("long", begin, begin + kTraceShortNs);
  Record("brief", begin + 2 * kTraceSliceNs, begin + 2 * kTraceSliceNs + 1);  // another slice
  EXPECT_THAT(Drained(*recorder), SizeIs(kTraceEventsASlice + 2));
  EXPECT_EQ(recorder->losses().brief, kSpans - kTraceEventsASlice);
  EXPECT_EQ(recorder->losses().full, 0);
  EXPECT_EQ(recorder->Stacks().at(0).stacks.at(0).count, kSpans + 1);
}

TEST(TraceRecorder, DropsTheNewestOfAThreadWhoseRingIsFullAndCountsThem) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  const int in_ring = static_cast<int>(kTraceEventsAThread);
  RecordLongOnes(in_ring + 7);
  const std::vector<Taken> taken = Drained(*recorder);
  ASSERT_THAT(taken, SizeIs(in_ring));
  EXPECT_EQ(taken[0].event.begin_ns, 1'000'000) << "not the first, but a later one";
  EXPECT_EQ(recorder->losses().full, 7);
  RecordLongOnes(1);
  EXPECT_THAT(Drained(*recorder), SizeIs(1)) << "what was taken made no room";
}

TEST(TraceRecorder, CountsTheSpansOfThreadsThatAreTooMany) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  constexpr int kMore = 3;
  const int threads = static_cast<int>(kMostTraceThreads) + kMore;
  std::atomic<int> done{0};
  {
    const WorkerGroup group = *WorkerGroup::Start(threads, "many", [&](int) {
      RecordLongOnes(2);
      ++done;
      while (done < threads) std::this_thread::yield();  // all are there at the same time
    });
  }
  EXPECT_EQ(recorder->losses().unheld, 2 * kMore);
  EXPECT_THAT(Drained(*recorder), SizeIs(2 * kMostTraceThreads));
  std::thread([] { RecordLongOnes(1); }).join();
  EXPECT_THAT(Drained(*recorder), SizeIs(1)) << "those that are gone made no room";
}

TEST(TraceRecorder, CountsTheSpansOfMoreStacksThanItHolds) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  constexpr int kMore = 5;
  const int stacks = static_cast<int>(kTraceStacksAThread) - 1 + kMore;  // one is the root
  for (int i = 0; i < stacks; ++i) Record(TraceName::Intern("stack " + std::to_string(i)), 1, 2);
  EXPECT_EQ(recorder->losses().unstacked, kMore);
  EXPECT_THAT(recorder->Stacks().at(0).stacks, SizeIs(stacks - kMore));
}

TEST(TraceRecorder, RecordsTheValuesOfCounters) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  TraceCount("batches", TraceKind::kQueue, 3);
  const std::vector<Taken> taken = Drained(*recorder);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_TRUE(taken[0].event.is_counter());
  EXPECT_EQ(taken[0].event.end_ns, 3);
  EXPECT_THAT(recorder->Stacks(), SizeIs(0));
}

TEST(TraceRecorder, LosesNothingUncountedWhileManyThreadsRecordAndItIsDrained) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto recorder, TraceRecorder::Start());
  constexpr int kThreads = 4, kSpans = 20'000;
  std::atomic<int> running{kThreads};
  size_t taken = 0;
  {
    const WorkerGroup group = *WorkerGroup::Start(kThreads, "busy", [&](int) {
      for (int i = 0; i < kSpans; ++i) {
        const TraceSpan outer("outer");
        const TraceSpan inner("inner", TraceKind::kStarved);
      }
      --running;
    });
    while (running > 0) taken += Drained(*recorder).size();
  }
  taken += Drained(*recorder).size();
  const TraceLosses losses = recorder->losses();
  EXPECT_EQ(static_cast<int64_t>(taken) + losses.brief + losses.full, 2 * kThreads * kSpans);
  const std::vector<TraceThreadStacks> threads = recorder->Stacks();
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(threads[0].stacks.at(0).count, kThreads * kSpans);
  EXPECT_EQ(threads[0].stacks.at(0).children.at(0).count, kThreads * kSpans);
}

}  // namespace stoker::trace_test
