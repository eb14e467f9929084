#include "stoker/run/starvation_advice.h"

#include "stoker/base/testing.h"

namespace stoker::starvation_advice_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using RunBy = LimitingStage::RunBy;
using Work = LimitingStage::Work;

std::string AdviceFor(LimitingStage stage) {
  if (stage.name.empty()) stage.name = "it";
  stage.why = "why";
  return StarvationBy(stage, 0.5).advice;
}

TEST(StarvationAdvice, FitsTheSource) {
  EXPECT_THAT(AdviceFor({.work = Work::kReads}),
              AllOf(HasSubstr("`cache` right after `it`"), Not(HasSubstr("remote")),
                    Not(HasSubstr("pack"))));
  EXPECT_THAT(AdviceFor({.work = Work::kReads, .many_files = true}),
              AllOf(HasSubstr("`stoker pack`"), Not(HasSubstr("remote"))));
  EXPECT_THAT(AdviceFor({.work = Work::kReads, .many_files = true, .on_servers = true}),
              Not(HasSubstr("remote")));
  EXPECT_THAT(AdviceFor({.work = Work::kReads, .on_servers = true, .may_keep_copies = true}),
              HasSubstr("`data.remote.cache`"));
  EXPECT_THAT(AdviceFor({.run_by = RunBy::kOneThread, .work = Work::kReads}),
              HasSubstr("`interleave`"));
}

TEST(StarvationAdvice, NamesNothingThatTheRecipeHasAlready) {
  EXPECT_THAT(AdviceFor({.work = Work::kReads, .cached = true}),
              AllOf(Not(HasSubstr("`cache`")), HasSubstr("`cache: {path: FILE}`")));
  EXPECT_THAT(AdviceFor({.work = Work::kReads, .cached = true, .on_servers = true}),
              HasSubstr("a disk that is near"));
  EXPECT_THAT(AdviceFor({.work = Work::kRepeats, .cached = true}),
              AllOf(Not(HasSubstr("`cache`")), HasSubstr("`stoker pack`")));
  EXPECT_THAT(AdviceFor({.work = Work::kDraws, .all_cpus = true}), Not(HasSubstr("feed_threads")));
  EXPECT_THAT(AdviceFor({.work = Work::kDraws}), HasSubstr("`train.feed_threads`"));
  EXPECT_THAT(AdviceFor({.work = Work::kDraws}), Not(HasSubstr("`cache`")));
}

TEST(StarvationAdvice, PutsACacheWhereOneMayStand) {
  EXPECT_THAT(AdviceFor({.name = "cache", .work = Work::kRepeats}),
              AllOf(Not(HasSubstr("put `cache`")), HasSubstr("precedes `cache`")));
  EXPECT_THAT(AdviceFor({.work = Work::kRepeats}), StartsWith("put `cache` after `it`"));
  EXPECT_THAT(AdviceFor({.work = Work::kRepeats, .first_random = "shuffle"}),
              StartsWith("put `it` before `shuffle`, and `cache` between them"));
}

TEST(StarvationAdvice, BlamesNoStageThatIsIdle) {
  const Starvation idle =
      StarvationBy({.name = "batch", .why = "16 threads spent 1%", .idle = true}, 0.6);
  EXPECT_EQ(idle.stage, "");
  EXPECT_EQ(idle.Sentence(),
            "60% of the time went into waiting for data, which the work of no stage explains (the "
            "busiest is `batch`: 16 threads spent 1%)");
  EXPECT_EQ(idle.Brief(), "waits 60% for data");
  EXPECT_EQ(StarvationBy({.name = "folder", .why = "why"}, 0.6).Brief(), "waits 60% for `folder`");
  EXPECT_THAT(idle.advice, AllOf(HasSubstr("stoker bench"), Not(HasSubstr("cache"))));
  const auto read = Starvation::FromJson(idle.ToJson());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->Sentence(), idle.Sentence());
}

TEST(StarvationAdvice, BlamesNoStageThatWorkedFarLessThanTheRunWaited) {
  EXPECT_EQ(StarvationBy({.name = "batch", .busy_threads = 0}, 0.6).stage, "");
  EXPECT_EQ(StarvationBy({.name = "batch", .busy_threads = 0.14}, 0.6).stage, "");
  EXPECT_EQ(StarvationBy({.name = "batch", .busy_threads = 0.16}, 0.6).stage, "batch");
}

TEST(StarvationAdvice, BlamesAFixedNumberOfThreadsOnlyWhereMoreCouldWork) {
  EXPECT_THAT(AdviceFor({.work = Work::kReads, .fixed_threads = true}),
              StartsWith("leave train.feed_threads out"));
  for (const RunBy run_by : {RunBy::kConsumer, RunBy::kOneThread}) {
    EXPECT_THAT(AdviceFor({.run_by = run_by, .work = Work::kReads, .fixed_threads = true}),
                Not(HasSubstr("feed_threads")));
  }
  EXPECT_THAT(AdviceFor({.work = Work::kDraws, .fixed_threads = true}),
              Not(HasSubstr("give it more")));
}

TEST(StarvationAdvice, EndsAPipelineThatWorksOnlyWhenItIsAskedByPrefetch) {
  EXPECT_THAT(AdviceFor({.run_by = RunBy::kConsumer}), HasSubstr("`prefetch`"));
  EXPECT_THAT(AdviceFor({.run_by = RunBy::kOneThread}), Not(HasSubstr("`prefetch`")));
}

TEST(Starvation, IsReadAsItWasWritten) {
  const Starvation written = StarvationBy({.name = "s", .why = "w", .work = Work::kReads}, 0.25);
  const auto read = Starvation::FromJson(written.ToJson());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ToJson(), written.ToJson());
  EXPECT_FALSE(Starvation::FromJson(Json()));
  EXPECT_FALSE(Starvation::FromJson({{"waited", "much"}}));
}

}  // namespace stoker::starvation_advice_test
