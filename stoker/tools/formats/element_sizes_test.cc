#include "stoker/tools/formats/element_sizes.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker::element_sizes_test {

TEST(SizeSummary, TellsARangeWithItsMeanOrTheOneSize) {
  SizeSummary sizes;
  EXPECT_TRUE(sizes.ToJson().is_null());
  EXPECT_EQ(sizes.ToText(), "");
  sizes.Add(8, 3);
  EXPECT_EQ(sizes.ToText(), "8 bytes");
  sizes.Add(0);
  sizes.Add(1200);
  EXPECT_EQ(sizes.ToText(), "0 to 1,200 bytes, 244.8 on average");
  EXPECT_EQ(sizes.ToJson(), (Json{{"smallest", 0}, {"largest", 1200}, {"mean", 1224 / 5.0}}));
}

TEST(ElementSizes, SumsTheFieldsOfEachElement) {
  ElementSizes sizes(2);
  EXPECT_EQ(sizes.InBrackets(), "");
  const Array label = Array::Of(std::vector<int64_t>{1});
  sizes.Add(std::vector<Array>{label, Array::Of(std::vector<uint8_t>{1, 2, 3})});
  sizes.Add(std::vector<Array>{label, Array::Of(std::vector<uint8_t>{1})});
  EXPECT_EQ(sizes.field(0).ToText(), "8 bytes");
  EXPECT_EQ(sizes.field(1).ToText(), "1 to 3 bytes, 2 on average");
  EXPECT_EQ(sizes.InBrackets(), " (9 to 11 bytes, 10 on average)");
  EXPECT_EQ(sizes.element().count, 2);
}

}  // namespace stoker::element_sizes_test
