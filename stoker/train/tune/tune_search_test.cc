#include "stoker/train/tune/tune_search.h"

#include "stoker/base/testing.h"

namespace stoker::tune_search_test {

// Times that are made up: a step takes what the table says of its threads, each comparison takes
// `seconds_each`, and nothing is noisy but what the test says.
class FakeTimer final : public ChoiceTimer {
 public:
  Result<StepTimes> Begin(const Choices& first, double most_seconds) override {
    STOKER_RETURN_IF_ERROR(begin);
    allowed_to_begin = most_seconds;
    elapsed += 0.01;
    StepTimes times = Times(first);
    for (double& time : times) time *= slower_at_first;
    return times;
  }
  Result<Compared> Compare(const Choices& best, const Choices& other, StepKind kind, double seconds,
                           double most_seconds) override {
    most.push_back(most_seconds);
    const bool in_time = seconds_each * slower_than_announced <= most_seconds;
    elapsed += in_time ? seconds_each * slower_than_announced : most_seconds;
    if (!in_time) return Cancelled("the time is up");
    compared.push_back({best.threads, other.threads});
    kinds.push_back(kind);
    given.push_back(seconds);
    if (ms.at(other.threads) == 0) return ResourceExhausted("no memory for {}", other.threads);
    return Compared{Times(best), Times(other)};
  }
  double LeastSeconds(StepKind, double) const override { return seconds_each; }
  double ElapsedSeconds() const override { return elapsed; }

  StepTimes Times(const Choices& choices) const {
    const double median = ms.at(choices.threads);
    return {median * (1 - scatter), median, median * (1 + scatter)};
  }

  std::map<int, double> ms = {{1, 10}};
  double scatter = 0;
  double slower_at_first = 1;
  double seconds_each = 0.1;
  double elapsed = 0;
  double allowed_to_begin = 0;
  Status begin;
  std::vector<std::pair<int, int>> compared = {};
  std::vector<StepKind> kinds = {};
  double slower_than_announced = 1;  // what comparisons take, by LeastSeconds
  std::vector<double> given = {}, most = {};
};

Choices Threads(int threads) { return {.threads = threads}; }

Knob KnobOf(const std::vector<int>& threads, StepKind kind = StepKind::kComputing) {
  return {.kind = kind, .alternatives = [threads](const Choices& best) {
            std::vector<Alternative> all;
            for (const int count : threads) {
              Choices choices = best;
              choices.threads = count;
              all.push_back({fmt::format("threads: {}", count), choices});
            }
            return all;
          }};
}

constexpr TuneLimits kLong{.batches = 1e6};

TEST(SearchChoices, KeepsWhatIsFasterThanTheBestSoFar) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 5}, {3, 7}, {4, 4}};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Tuned tuned, SearchChoices(Threads(1), {KnobOf({2, 3}), KnobOf({4})}, timer, kLong));
  EXPECT_EQ(tuned.choices.threads, 4);
  // The third is compared with the second, the best by then, and so is the fourth.
  EXPECT_EQ(timer.compared, (std::vector<std::pair<int, int>>{{1, 2}, {2, 3}, {2, 4}}));
  const auto& trials = tuned.report.trials;
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[1].verdict, "kept");
  EXPECT_EQ(trials[1].gain, 2);
  EXPECT_EQ(trials[2].verdict, "no faster");
  EXPECT_EQ(trials[3].gain, 1.25);
  EXPECT_DOUBLE_EQ(tuned.report.planned_seconds, 4000);
}

TEST(SearchChoices, CorrectsTheTimeOfTheBestByEachComparison) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 12}};
  timer.slower_at_first = 3;
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2})}, timer, {.batches = 1000}));
  EXPECT_EQ(tuned.report.trials[0].step_ms, 10);
  EXPECT_DOUBLE_EQ(tuned.report.planned_seconds, 10);
  EXPECT_DOUBLE_EQ(tuned.report.limit_seconds, 0.3);
}

TEST(SearchChoices, LeavesWhatGainsLessThanTwoPercent) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 9.9}, {3, 9.7}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2, 3})}, timer, kLong));
  EXPECT_EQ(tuned.choices.threads, 3);
  EXPECT_FALSE(tuned.report.trials[1].kept);
  EXPECT_EQ(tuned.report.trials[1].verdict, "less than 2 %");
}

TEST(SearchChoices, LeavesWhatGainsLessThanTheNoise) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 9}, {3, 2}};
  timer.scatter = 0.2;
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2, 3})}, timer, kLong));
  EXPECT_EQ(tuned.choices.threads, 3);
  EXPECT_THAT(tuned.report.trials[1].verdict, testing::HasSubstr("less than the noise"));
}

TEST(SearchChoices, WhereOneStepTakesAsLongAsAllOfItSaysThatNothingWasCompared) {
  FakeTimer timer;
  timer.ms = {{1, 30'000}, {2, 10}};
  timer.seconds_each = 8 * 30;
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2})}, timer, kLong));
  EXPECT_EQ(timer.allowed_to_begin, 20);
  EXPECT_EQ(tuned.choices.threads, 1);
  EXPECT_THAT(timer.compared, testing::IsEmpty());
  EXPECT_EQ(tuned.report.reason, "nothing was compared: that takes more than 20 s");
}

TEST(SearchChoices, TakesNoLongerThanThreePercentOfTheRunAndTwentySeconds) {
  for (const auto& [batches, limit] :
       std::vector<std::pair<double, double>>{{1000, 0.3}, {1e6, 20}}) {
    FakeTimer timer;
    timer.ms = {{1, 10}, {2, 10}};
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Tuned tuned, SearchChoices(Threads(1), {KnobOf(std::vector<int>(1000, 2))}, timer,
                                         {.batches = batches}));
    EXPECT_DOUBLE_EQ(tuned.report.limit_seconds, limit);
    EXPECT_LE(tuned.report.seconds, limit);
    EXPECT_GT(tuned.report.seconds, limit - 2 * timer.seconds_each);
    // That the others were not tried is said once.
    EXPECT_EQ(tuned.report.trials.back().verdict, kNoTimeLeft);
    EXPECT_THAT(tuned.report.ToText(), testing::HasSubstr("no time was left for threads: 2, "));
  }
}

// As on a machine that does other things too.
TEST(SearchChoices, TakesNoLongerWhereComparisonsTakeLongerThanTheyShould) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 10}};
  timer.slower_than_announced = 100;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Tuned tuned, SearchChoices(Threads(1), {KnobOf({2, 2, 2})}, timer, {.batches = 1000}));
  EXPECT_LE(tuned.report.seconds, tuned.report.limit_seconds);
  EXPECT_THAT(tuned.report.trials,
              testing::Contains(testing::Field(&TuneTrial::verdict, kNoTimeLeft)).Times(3));
  EXPECT_THAT(tuned.report.reason, testing::HasSubstr("the run is too short"));
}

TEST(SearchChoices, DividesTheTimeThatIsLeftAmongTheAlternativesThatAreLeft) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 10}};
  timer.seconds_each = 1;
  STOKER_ASSERT_OK(SearchChoices(Threads(1), {KnobOf({2, 2}), KnobOf({2})}, timer, kLong));
  ASSERT_EQ(timer.given.size(), 3u);
  EXPECT_NEAR(timer.given[0], (20 - 0.01) / 3, 1e-9);
  EXPECT_NEAR(timer.given[1], (19 - 0.01) / 2, 1e-9);
  EXPECT_NEAR(timer.given[2], 18 - 0.01, 1e-9);
}

TEST(SearchChoices, GoesOnWithoutWhatDoesNotWork) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 0}, {3, 5}};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Tuned tuned,
      SearchChoices(Threads(1), {KnobOf({2, 3}, StepKind::kWithData)}, timer, kLong));
  EXPECT_EQ(tuned.choices.threads, 3);
  EXPECT_EQ(tuned.report.trials[1].verdict, "not possible: no memory for 2");
  EXPECT_EQ(timer.kinds, (std::vector<StepKind>{StepKind::kWithData, StepKind::kWithData}));
}

TEST(SearchChoices, ReportsWhatIsNotPossibleAndTimesOnlyTheRest) {
  const Knob impossible{.alternatives = [](const Choices& best) {
    return std::vector<Alternative>{{"graph: on", best, "there is no device"}};
  }};
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 5}};
  STOKER_ASSERT_OK_AND_ASSIGN(Tuned tuned,
                              SearchChoices(Threads(1), {impossible, KnobOf({2})}, timer, kLong));
  EXPECT_EQ(tuned.report.trials[1].verdict, "not possible: there is no device");
  EXPECT_EQ(tuned.report.trials[1].step_ms, 0);
  EXPECT_EQ(tuned.choices.threads, 2);
  EXPECT_EQ(timer.compared.size(), 1u);
  STOKER_ASSERT_OK_AND_ASSIGN(tuned, SearchChoices(Threads(1), {impossible}, timer, kLong));
  EXPECT_THAT(tuned.report.reason, testing::HasSubstr("nothing to choose from"));
}

TEST(SearchChoices, FailsWhereTheRunItselfCouldNotBegin) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 5}};
  timer.begin = DataLoss("no such class");
  EXPECT_THAT(SearchChoices(Threads(1), {KnobOf({2})}, timer, kLong),
              FailsWith(StatusCode::kDataLoss, "no such class"));
}

TEST(SearchChoices, TimesNothingWhereNothingIsOpenOrTheRunIsShort) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 5}};
  STOKER_ASSERT_OK_AND_ASSIGN(Tuned tuned, SearchChoices(Threads(1), {KnobOf({})}, timer, kLong));
  EXPECT_THAT(tuned.report.reason, testing::HasSubstr("nothing to choose from"));
  STOKER_ASSERT_OK_AND_ASSIGN(tuned,
                              SearchChoices(Threads(1), {KnobOf({2})}, timer, {.batches = 199}));
  EXPECT_EQ(tuned.report.reason, "a run of 199 batches is too short to time alternatives");
  EXPECT_EQ(tuned.choices.threads, 1);
  EXPECT_THAT(tuned.report.trials, testing::IsEmpty());
  EXPECT_EQ(timer.elapsed, 0);
}

// A claim that something was the fastest would be false.
TEST(SearchChoices, SaysThatNothingWasComparedWhereTheTimeAllowsForNoComparison) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 5}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2})}, timer, {.batches = 200}));
  EXPECT_EQ(tuned.report.reason,
            "nothing was compared: the run is too short, tuning may take 3 % of it, 0.06 s");
  EXPECT_EQ(tuned.report.ToText(), "");
  timer.seconds_each = 21;
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned slow,
                              SearchChoices(Threads(1), {KnobOf({2})}, timer, kLong));
  EXPECT_EQ(slow.report.reason, "nothing was compared: that takes more than 20 s");
}

TEST(SearchChoices, SaysThatNothingWasComparedWhereNoAlternativeIsPossible) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 0}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2})}, timer, kLong));
  EXPECT_EQ(tuned.report.reason, "nothing was compared: no alternative is possible");
}

TEST(TuneReport, SaysWhatTookLongerThanWasMeant) {
  TuneReport report{
      .trials = {{.change = "begin", .step_ms = 1}, {.change = "threads: 2", .step_ms = 1}},
      .seconds = 0.4};
  report.limit_seconds = 0.5;
  EXPECT_THAT(report.ToText(), testing::HasSubstr("tuned in 0.4 s of at most 0.5 s\n"));
  report.seconds = 0.8;
  EXPECT_THAT(
      report.ToText(),
      testing::HasSubstr("tuned in 0.8 s; 0.5 s were meant, known only after the first steps\n"));
}

TEST(TuneReport, IsATableOfWhatWasTriedGainedAndKept) {
  FakeTimer timer;
  timer.ms = {{1, 10}, {2, 5}, {3, 7}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned,
                              SearchChoices(Threads(1), {KnobOf({2, 3})}, timer, kLong));
  const std::string text = tuned.report.ToText();
  EXPECT_THAT(text,
              testing::HasSubstr("* begin                            10.00       -  contiguous"));
  EXPECT_THAT(text, testing::HasSubstr("* threads: 2                        5.00   2.00x  kept\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("  threads: 3                        7.00   0.71x  no faster\n"));
  const Json json = tuned.report.ToJson();
  ASSERT_EQ(json["trials"].size(), 3u);
  EXPECT_EQ(json["trials"][1]["change"], "threads: 2");
  EXPECT_EQ(json["trials"][1]["choices"]["threads"], 2);
  EXPECT_EQ(json["trials"][1]["gain"], 2);
  EXPECT_EQ(json["trials"][0]["gain"], nullptr);
  EXPECT_EQ(TuneReport{}.ToText(), "");
}

}  // namespace stoker::tune_search_test
