#include "stoker/base/byte_size.h"

#include "stoker/base/testing.h"

namespace stoker::byte_size_test {

TEST(ParseByteSize, TakesNumbersWithAndWithoutUnitsAndNothingElse) {
  const std::pair<const char*, int64_t> good[] = {
      {"1", 1},           {"500MB", 500'000'000}, {"512MiB", 512 << 20}, {"2 GiB", 2LL << 30},
      {"1.5k", 1500},     {"1.5Ki", 1536},        {"3tib", 3LL << 40},   {"12b", 12},
      {"4Gi", 4LL << 30},
  };
  for (const auto& [text, bytes] : good) EXPECT_EQ(*ParseByteSize(text), bytes) << text;
  for (const char* const bad :
       {"", "x", "-1", "1ib", "1 x", "1kk", "nan", "inf", "9999999tib", "1 G i", "auto"}) {
    EXPECT_THAT(ParseByteSize(bad), FailsWith(StatusCode::kInvalidArgument, "is not a size"))
        << bad;
  }
}

TEST(ByteSize, IsReadAndWritten) {
  EXPECT_EQ(*ParseByteSize("50GB"), 50'000'000'000);
  EXPECT_EQ(*ParseByteSize("32 MiB"), 32 << 20);
  EXPECT_EQ(*ParseByteSize("1.5Ki"), 1536);
  EXPECT_EQ(*ParseByteSize("123"), 123);
  for (const char* text : {"", "GB", "-1GB", "5 apples", "1e30", "nan", "10TBs"})
    EXPECT_THAT(ParseByteSize(text), FailsWith(StatusCode::kInvalidArgument, "is not a size"))
        << text;
  for (const int64_t bytes :
       {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{32} << 20, int64_t{50'000'000'000}})
    EXPECT_EQ(*ParseByteSize(ByteSizeText(bytes)), bytes);
}

}  // namespace stoker::byte_size_test
