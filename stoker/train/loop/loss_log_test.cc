#include "stoker/train/loop/loss_log.h"

#include <torch/utils.h>

#include <cmath>
#include <limits>

#include "stoker/base/testing.h"

namespace stoker::loss_log_test {

double TakeMean(LossLog& log) {
  const double mean = log.mean();
  log.Clear();
  return mean;
}

TEST(LossLog, ReadsALossOnTheCpuAtOnce) {
  LossLog log;
  STOKER_ASSERT_OK(log.Add(1, torch::tensor(2.0f)));
  EXPECT_EQ(log.last(), 2);
  EXPECT_THAT(log.Add(2, torch::tensor(std::nanf(""))),
              FailsWith(StatusCode::kFailedPrecondition, "step 2: the loss is nan"));
}

TEST(LossLog, DoesNotReadALossThatIsPutOffBeforeTheFlush) {
  LossLog log;
  // A loss that is computed later than it is added: what a device's queue makes of every loss.
  at::Tensor loss = torch::full({}, std::numeric_limits<float>::quiet_NaN());
  STOKER_ASSERT_OK(log.PutOff(1, loss));
  loss.fill_(3.0f);
  EXPECT_EQ(log.last(), 0);
  STOKER_ASSERT_OK(log.Flush());
  EXPECT_EQ(log.last(), 3);
  EXPECT_EQ(TakeMean(log), 3);
}

TEST(LossLog, NamesTheStepOfALossThatWasPutOffAlsoBehindStepsThatWereSkipped) {
  LossLog log;
  STOKER_ASSERT_OK(log.PutOff(4, torch::tensor(1.0f)));
  STOKER_ASSERT_OK(log.PutOff(9, torch::full({}, std::numeric_limits<float>::infinity())));
  EXPECT_THAT(log.Flush(), FailsWith(StatusCode::kFailedPrecondition, "step 9: the loss is inf"));
}

TEST(LossLog, ReadsWhatWaitsWhenItIsMuch) {
  LossLog log;
  for (size_t i = 1; i < LossLog::kMostWaiting; ++i) {
    STOKER_ASSERT_OK(log.PutOff(static_cast<int64_t>(i), torch::tensor(1.0f)));
  }
  EXPECT_EQ(log.last(), 0);
  STOKER_ASSERT_OK(log.PutOff(static_cast<int64_t>(LossLog::kMostWaiting), torch::tensor(5.0f)));
  EXPECT_EQ(log.last(), 5);
}

TEST(LossLog, GivesTheMeanOfTheLossesSinceTheLastAlsoWhereItWasRestored) {
  LossLog log;
  STOKER_ASSERT_OK(log.Add(1, torch::tensor(1.0f)));
  LossLog restored;
  STOKER_ASSERT_OK(restored.Restore(log.Save()));
  STOKER_ASSERT_OK(restored.Add(2, torch::tensor(4.0f)));
  EXPECT_EQ(TakeMean(restored), 2.5);
  EXPECT_TRUE(std::isnan(TakeMean(restored)));
}

}  // namespace stoker::loss_log_test
