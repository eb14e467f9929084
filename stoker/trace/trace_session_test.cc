#include "stoker/trace/trace_session.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "stoker/base/json.h"
#include "stoker/base/testing.h"

namespace stoker::trace_session_test {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How often an event has this name; -1 if the file is no JSON, as when it grows while it is read.
int64_t CountIn(const std::string& path, const std::string& name) {
  int64_t count = 0;
  const Json trace = Json::parse(TextOf(path), nullptr, /*allow_exceptions=*/false);
  if (trace.is_discarded()) return -1;
  for (const Json& event : trace.at("traceEvents")) count += event.at("name") == name ? 1 : 0;
  return count;
}

class TraceSessionTest : public testing::Test {
 protected:
  TraceOutputs All(double seconds = 3600) const {
    return {.trace = dir_ / "t.json",
            .flame = dir_ / "f.svg",
            .folded = dir_ / "s.txt",
            .seconds = seconds};
  }
  static Result<std::unique_ptr<TraceSession>> Start(const TraceOutputs& outputs) {
    return TraceSession::Start(outputs, "stoker test", "1.2.3");
  }

  TempDir dir_;
};

TEST_F(TraceSessionTest, WritesSpansOfAllThreadsIntoEveryFile) {
  const TraceOutputs outputs = All();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto session, Start(outputs));
  { const TraceSpan span("here"); }
  {
    const WorkerGroup other =
        *WorkerGroup::Start(2, "other", [](int) { const TraceSpan span("there"); });
  }
  TraceCount("queue", TraceKind::kQueue, 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const TraceReport report, session->Finish());
  EXPECT_GE(report.events, 4);
  EXPECT_EQ(report.losses.brief + report.losses.full + report.losses.unheld, 0);
  EXPECT_EQ(CountIn(outputs.trace, "here"), 1);
  EXPECT_EQ(CountIn(outputs.trace, "there"), 2);
  EXPECT_EQ(CountIn(outputs.trace, "queue: ready"), 1);
  EXPECT_GE(CountIn(outputs.trace, "resident memory"), 1);
  EXPECT_EQ(CountIn(outputs.trace, "end of the trace"), 1);
  EXPECT_THAT(TextOf(outputs.flame), HasSubstr("<title>other (2 threads)"));
}

TEST_F(TraceSessionTest, TheTraceHasWhatEndedAMomentAgo) {
  const TraceOutputs outputs = All();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto session, Start(outputs));
  { const TraceSpan span("here"); }
  while (CountIn(outputs.trace, "here") != 1) std::this_thread::yield();
  EXPECT_FALSE(std::filesystem::exists(outputs.flame));  // of what has not ended yet
}

TEST_F(TraceSessionTest, EndsByItselfSoLongAfterItsWindowBeganAndNotBefore) {
  const TraceOutputs outputs = All(/*seconds=*/0.1);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto session, Start(outputs));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(TraceIsOn()) << "the window has not begun";
  session->BeginWindow();
  session->BeginWindow();
  while (!std::filesystem::exists(outputs.folded)) std::this_thread::yield();
  EXPECT_FALSE(TraceIsOn());
  { const TraceSpan span("late"); }
  STOKER_ASSERT_OK_AND_ASSIGN(const TraceReport report, session->Finish());
  EXPECT_GE(report.seconds, 0.4);
  EXPECT_EQ(CountIn(outputs.trace, "late"), 0);
  EXPECT_EQ(CountIn(outputs.trace, "end of the trace"), 1);
}

TEST_F(TraceSessionTest, LeavesWholeFilesWhenItIsDestroyed) {
  const TraceOutputs outputs = All();
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto session, Start(outputs));
    TraceSpan span("here", TraceKind::kWork, NowNs() - 5'000'000);
  }
  EXPECT_EQ(CountIn(outputs.trace, "here"), 1);
  EXPECT_THAT(TextOf(outputs.folded), ContainsRegex("main;here ([5-9][0-9]{3}|[1-9][0-9]{4,})\n"));
  EXPECT_FALSE(TraceIsOn());
}

TEST_F(TraceSessionTest, OfATraceAloneEndsWhenItIsFull) {
  const TraceOutputs outputs{.trace = dir_ / "t.json", .seconds = 3600, .most_bytes = 8192};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto session, Start(outputs));
  while (TraceIsOn()) {
    const TraceSpan span("here", TraceKind::kWork, NowNs() - 5'000'000);
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const TraceReport report, session->Finish());
  EXPECT_TRUE(report.full);
  EXPECT_LE(TextOf(outputs.trace).size(), 8192u);
}

TEST_F(TraceSessionTest, OfFilesThatCannotBeMadeDoesNotStart) {
  for (TraceOutputs outputs :
       {TraceOutputs{.trace = dir_ / "no/t.json"}, TraceOutputs{.flame = dir_ / "no/f.svg"},
        TraceOutputs{.folded = dir_ / "no/s.txt"}}) {
    EXPECT_THAT(Start(outputs), FailsWith(StatusCode::kNotFound, "no/"));
    EXPECT_FALSE(TraceIsOn());
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(TraceSessionTest, IsOneAtATime) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto session, Start(All()));
  EXPECT_THAT(Start({.folded = dir_ / "x.txt"}),
              FailsWith(StatusCode::kFailedPrecondition, "already"));
}

}  // namespace stoker::trace_session_test
