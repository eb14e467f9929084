#include "stoker/io/remote/server_clock.h"

#include <chrono>

#include "stoker/base/testing.h"

namespace stoker::server_clock_test {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TEST(ServerClock, IsThatOfThisMachineUntilAServerShowsAnother) {
  const int64_t before = Now();
  const int64_t shown = ServerTime("nobody.example");
  EXPECT_GE(shown, before);
  EXPECT_LE(shown, Now());
}

TEST(ServerClock, OfOneServerLeavesThatOfOthersAlone) {
  constexpr int64_t kDay = 86'400;
  const int64_t before = Now();
  LearnServerTime("ahead.example", before + 10 * kDay);
  LearnServerTime("behind.example", before - 10 * kDay);
  EXPECT_GT(ServerTime("ahead.example"), before + 9 * kDay);
  EXPECT_LT(ServerTime("behind.example"), before - 9 * kDay);
  EXPECT_LT(ServerTime("right.example"), before + kDay);
  LearnServerTime("ahead.example", before);  // it was corrected
  EXPECT_LT(ServerTime("ahead.example"), before + kDay);
}

}  // namespace stoker::server_clock_test
