#include "stoker/data/runtime/pipeline_costs.h"

#include "stoker/base/testing.h"

namespace stoker::pipeline_costs_test {

PipelineCosts OneStage(int64_t threads, double busy_share, double us_per_element) {
  PipelineCosts costs;
  costs.groups.push_back(
      {.threads = threads,
       .stages = {{.us_per_element = us_per_element, .busy_share = busy_share}}});
  return costs;
}

TEST(PipelineCosts, SayWhyAStageLimitsInUnitsThatPeopleRead) {
  EXPECT_EQ(OneStage(2, 0.96, 51'000).WhyItLimits(),
            "2 threads spent 96% of the time in it, 51 ms for each of its elements");
  EXPECT_EQ(OneStage(1, 0.5, 5.1).WhyItLimits(),
            "1 thread spent 50% of the time in it, 5.1 us for each of its elements");
}

TEST(PipelineCosts, SayHowManyThreadsWereBusyWhereThereWereMoreThanInTheEnd) {
  EXPECT_EQ(OneStage(1, 11.69, 2.02e6).WhyItLimits(),
            "it kept 11.7 threads busy, 2.02 s for each of its elements");
}

}  // namespace stoker::pipeline_costs_test
