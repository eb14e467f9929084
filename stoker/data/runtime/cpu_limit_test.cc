#include "stoker/data/runtime/cpu_limit.h"

#include <gtest/gtest.h>

#include <memory>

#include "stoker/base/worker_group.h"

namespace stoker::cpu_limit_test {

TEST(PipelineCpuScope, LimitsPipelinesOnlyWhileItLives) {
  EXPECT_EQ(PipelineCpuLimit(), 0);
  EXPECT_EQ(PipelineCpus(), AvailableCpus());
  {
    const PipelineCpuScope one(1);
    EXPECT_EQ(PipelineCpuLimit(), 1);
    EXPECT_EQ(PipelineCpus(), 1);
    const PipelineCpuScope more_than_there_are(AvailableCpus() + 1);
    EXPECT_EQ(PipelineCpus(), AvailableCpus());
  }
  EXPECT_EQ(PipelineCpuLimit(), 0);
  EXPECT_EQ(PipelineCpus(), AvailableCpus());
}

// Those of two threads do.
TEST(PipelineCpuScope, NothingIsLeftOfScopesThatEndInAnotherOrderThanTheyBegan) {
  auto first = std::make_unique<PipelineCpuScope>(3);
  auto second = std::make_unique<PipelineCpuScope>(2);
  auto all = std::make_unique<PipelineCpuScope>(0);
  EXPECT_EQ(PipelineCpuLimit(), 0);
  first.reset();
  EXPECT_EQ(PipelineCpuLimit(), 0);
  all.reset();
  EXPECT_EQ(PipelineCpuLimit(), 2);
  second.reset();
  EXPECT_EQ(PipelineCpuLimit(), 0);
}

}  // namespace stoker::cpu_limit_test
