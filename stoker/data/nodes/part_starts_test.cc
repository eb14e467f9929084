#include "stoker/data/nodes/part_starts.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker::part_starts_test {

TEST(PartStarts, FindEachElementInItsPartAndPassPartsWithoutElements) {
  const std::vector<int64_t> lengths = {0, 3, 0, 0, 1, 2, 0};
  PartStarts starts;
  for (const int64_t length : lengths) starts.Add(length);

  EXPECT_EQ(starts.size(), 6);
  int64_t position = 0;
  for (size_t part = 0; part < lengths.size(); ++part) {
    EXPECT_EQ(starts.begin(part), position);
    for (int64_t number = 0; number < lengths[part]; ++number, ++position) {
      EXPECT_EQ(starts.At(position).part, part);
      EXPECT_EQ(starts.At(position).number, number);
    }
    EXPECT_EQ(starts.end(part), position);
  }
}

TEST(PartStarts, OfOnePartGiveThePositionAsItsNumber) {
  PartStarts starts;
  starts.Add(5);
  EXPECT_EQ(starts.At(4).part, 0u);
  EXPECT_EQ(starts.At(4).number, 4);
}

}  // namespace stoker::part_starts_test
