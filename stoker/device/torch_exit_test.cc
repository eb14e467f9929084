#include "stoker/device/torch_exit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace stoker {
namespace torch_exit_test {

TEST(LeaveTorchsObjectsToTheKernel, KeepsTheExitCodeAndRunsWhatWasGivenToAtexitLater) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // torch has threads
  EXPECT_EXIT(
      {
        LeaveTorchsObjectsToTheKernel();
        std::atexit([] { std::fputs("later", stderr); });
        std::exit(3);
      },
      testing::ExitedWithCode(3), "later");
}

#if !defined(STOKER_REPORTS_AT_EXIT)
TEST(LeaveTorchsObjectsToTheKernel, RunsNothingThatWasGivenToAtexitBefore) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::atexit([] { std::fputs("before", stderr); });
        LeaveTorchsObjectsToTheKernel();
        std::exit(3);
      },
      testing::ExitedWithCode(3), testing::Not(testing::HasSubstr("before")));
}
#endif

TEST(LeaveTorchsObjectsToTheKernel, WritesWhatStandsInBuffers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        LeaveTorchsObjectsToTheKernel();
        std::FILE* const buffered = ::fdopen(2, "w");
        std::setvbuf(buffered, nullptr, _IOFBF, 4096);
        std::fputs("in a buffer", buffered);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "in a buffer");
}

}  // namespace torch_exit_test
}  // namespace stoker
