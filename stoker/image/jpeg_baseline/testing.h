// Running a test on each instruction set that this CPU has. Included by tests only.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace stoker::jpeg_baseline {

class OnInstructionSet : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { Choose(GetParam()); }
  void TearDown() override { Choose(0); }

 private:
  static void Choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // the dispatcher remembers its first choice
  }
};

}  // namespace stoker::jpeg_baseline

#define STOKER_ON_EVERY_INSTRUCTION_SET(Suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Target, Suite, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), \
                           [](const auto& target) { return hwy::TargetName(target.param); })
