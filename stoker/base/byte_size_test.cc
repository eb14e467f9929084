#include "stoker/base/byte_size.h"

#include "stoker/base/testing.h"

namespace stoker {
namespace {

TEST(ParseByteSize, TakesNumbersWithAndWithoutUnitsAndNothingElse) {
  const std::pair<const char*, int64_t> good[] = {
      {"1", 1},
      {"1e0", 0},
      {"500MB", 500'000'000},
      {"512MiB", 512 << 20},
      {"2 GiB", 2LL << 30},
      {"1.5k", 1500},
      {"1.5Ki", 1536},
      {"3tib", 3LL << 40},
      {"12b", 12},
      {"4Gi", 4LL << 30},
  };
  for (const auto& [text, bytes] : good) {
    EXPECT_EQ(ParseByteSize(text), bytes == 0 ? std::nullopt : std::optional(bytes)) << text;
  }
  for (const char* const bad : {"", "x", "-1", "0", "0.5", "1ib", "1 x", "1kk", "nan", "inf",
                                "9999999tib", "1 G i", "auto"}) {
    EXPECT_EQ(ParseByteSize(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace stoker
