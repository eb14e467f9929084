#include "stoker/data/ops/position_set_internal.h"

#include <vector>

#include "stoker/base/testing.h"

namespace stoker::position_set_internal_test {

TEST(PositionSet, FindsEachMemberAndEachOtherByNumber) {
  for (const int64_t size : {1, 63, 64, 65, 511, 512, 513, 3000}) {
    for (const int64_t modulus : {1, 2, 3, 700}) {
      PositionSet set;
      std::vector<int64_t> positions[2];
      for (int64_t i = 0; i < size; ++i) {
        const bool member = i * i % modulus == 0;
        set.Add(member);
        positions[member ? 1 : 0].push_back(i);
      }
      EXPECT_EQ(set.size(), size);
      for (const bool member : {false, true}) {
        const std::vector<int64_t>& expected = positions[member ? 1 : 0];
        ASSERT_EQ(set.Count(member), std::ssize(expected));
        for (int64_t i = 0; i < std::ssize(expected); ++i)
          ASSERT_EQ(set.Find(member, i), expected[static_cast<size_t>(i)]) << size << ", " << i;
      }
    }
  }
}

TEST(PositionSet, TakesLittleMoreThanABitAPosition) {
  PositionSet set;
  constexpr int64_t kSize = 1000000;
  for (int64_t i = 0; i < kSize; ++i) set.Add(i % 3 == 0);
  EXPECT_LT(set.bytes() * 8, kSize * 23 / 10);
}

}  // namespace stoker::position_set_internal_test
