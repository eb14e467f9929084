// Runs tests of Highway's kernels once for each instruction set that this CPU has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

#include "stoker/base/instruction_set.h"

namespace stoker {

// Kernels called in a test of this fixture use the instruction set of its parameter. The test fails
// where Highway takes another one.
class OnInstructionSet : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    Choose(GetParam());
    ASSERT_EQ(InstructionSet(), hwy::TargetName(GetParam())) << "another one ran";
  }
  void TearDown() override { Choose(0); }  // the best again

 private:
  static void Choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // the dispatcher remembers its first choice
  }
};

}  // namespace stoker

// Instantiates the tests of `fixture`, which derives from OnInstructionSet.
#define STOKER_ON_EVERY_INSTRUCTION_SET(fixture)                                   \
  INSTANTIATE_TEST_SUITE_P(Target, fixture,                                        \
                           testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), \
                           [](const auto& target) { return hwy::TargetName(target.param); })
