// Loads an accelerator's kernels, where there is one, before the first test: torch remembers
// whether it had them when it was first asked, so tests that use a device could not be run after
// others.
#include <gtest/gtest.h>

#include "stoker/device/accelerator.h"

namespace stoker::accelerator_environment_test {

class OpenAccelerator final : public testing::Environment {
 public:
  void SetUp() override { EXPECT_TRUE(OpenDevice("auto").ok()); }
};

[[maybe_unused]] const testing::Environment* const kEnvironment =
    testing::AddGlobalTestEnvironment(new OpenAccelerator);

}  // namespace stoker::accelerator_environment_test
