#include "stoker/tools/program/launcher.h"

#include <string_view>

#include "stoker/base/testing.h"

namespace stoker::launcher_test {

TEST(FindRestarts, ReadsWhatTorchrunSetsAndTakesNonsenseForNone) {
  const auto of = [](const char* count, const char* most) {
    return FindRestarts([&](const char* name) -> const char* {
      if (name == std::string_view("TORCHELASTIC_RESTART_COUNT")) return count;
      return name == std::string_view("TORCHELASTIC_MAX_RESTARTS") ? most : nullptr;
    });
  };
  EXPECT_EQ(of("2", "3").done, 2);
  EXPECT_EQ(of("2", "3").most, 3);
  EXPECT_EQ(of(nullptr, nullptr).most, 0);
  EXPECT_EQ(of("1", nullptr).most, 1);
  EXPECT_EQ(of("-1", "x").done, 0);
}

}  // namespace stoker::launcher_test
