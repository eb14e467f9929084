// Which trials are made.
#include <gmock/gmock.h>

#include "stoker/doctor/diagnose_testing_internal.h"

namespace stoker::trials_test {

using testing::IsEmpty;
using testing::SizeIs;

TEST(TrialsFor, AreOfWhatTheRecipeLimits) {
  RunProfile profile = Starved();
  EXPECT_THAT(TrialsFor(profile), IsEmpty());
  profile.facts.feed_threads = 1;
  profile.facts.memory_set = true;
  profile.facts.ends_with_prefetch = false;
  profile.facts.cache_after = 2;
  const std::vector<TrialPlan> plans = TrialsFor(profile);
  ASSERT_THAT(plans, SizeIs(4));
  EXPECT_EQ(plans[0].change, kFeed);
  EXPECT_EQ(plans[1].change, kMemory);
  EXPECT_EQ(plans[2].change, RecipeChange::Insert("data.train", 4, "prefetch"));
  EXPECT_EQ(plans[3].change, RecipeChange::Insert("data.train", 2, "cache"));
}

TEST(TrialsFor, ACacheThatDoesNotFitIsNotTried) {
  RunProfile profile = Starved();
  profile.facts.cache_after = 2;
  profile.facts.cache_bytes = 1000;
  profile.machine.memory_budget = 1999;
  EXPECT_THAT(TrialsFor(profile), IsEmpty());
  profile.machine.memory_budget = 2000;
  EXPECT_THAT(TrialsFor(profile), SizeIs(1));
}

TEST(TrialsFor, TheInputOfAHealthyRunIsNotTried) {
  RunProfile profile = Healthy();
  profile.facts.feed_threads = 1;
  profile.facts.cache_after = 2;
  EXPECT_THAT(TrialsFor(profile), IsEmpty());
}

TEST(TrialsFor, TheStepIsTriedWithOtherThreadsAndALargerBatch) {
  RunProfile profile = Healthy();
  profile.facts.threads = 16;
  profile.facts.batch = 2;
  const std::vector<TrialPlan> plans = TrialsFor(profile);
  ASSERT_THAT(plans, SizeIs(2));
  EXPECT_EQ(plans[0], (TrialPlan{RecipeChange::Set("train.threads", "auto"), TrialPart::kStep}));
  EXPECT_EQ(plans[1],
            (TrialPlan{RecipeChange::Set("data.train.3.batch.size", "16"), TrialPart::kStep}));
}

}  // namespace stoker::trials_test
