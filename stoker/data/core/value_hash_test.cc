#include "stoker/data/core/value_hash.h"

#include <cmath>
#include <set>
#include <string_view>

#include "stoker/base/testing.h"

namespace stoker::value_hash_test {

Array Text(std::string_view text) {
  Array array = Array::Allocate(DType::kUInt8, {static_cast<int64_t>(text.size())});
  if (!text.empty()) std::memcpy(array.data(), text.data(), text.size());
  return array;
}

template <typename T>
Array One(T value) {
  return Array::Of<T>(std::span<const T>(&value, 1), {});
}

TEST(HashValues, IsTheSameForANumberInEveryDType) {
  for (const int64_t value : {0, 1, 7, 100}) {
    const uint64_t hash = HashValues(One<int64_t>(value), 5);
    EXPECT_EQ(HashValues(One<uint8_t>(static_cast<uint8_t>(value)), 5), hash);
    EXPECT_EQ(HashValues(One<int8_t>(static_cast<int8_t>(value)), 5), hash);
    EXPECT_EQ(HashValues(One<int32_t>(static_cast<int32_t>(value)), 5), hash);
    EXPECT_EQ(HashValues(One<float>(static_cast<float>(value)), 5), hash);
    EXPECT_EQ(HashValues(One<double>(static_cast<double>(value)), 5), hash);
  }
  EXPECT_EQ(HashValues(One<int16_t>(-3), 5), HashValues(One<double>(-3), 5));
  EXPECT_EQ(HashValues(One<double>(-0.0), 5), HashValues(One<int64_t>(0), 5));
  EXPECT_EQ(HashValues(One<double>(std::nan("1")), 5), HashValues(One<float>(std::nanf("2")), 5));
  EXPECT_EQ(HashValues(One<double>(0.25), 5), HashValues(One<float>(0.25f), 5));
}

TEST(HashValues, DiffersWhereValuesLengthsOrSeedsDo) {
  std::set<uint64_t> hashes;
  size_t made = 0;
  const auto add = [&](const Array& array, uint64_t seed = 0) {
    hashes.insert(HashValues(array, seed));
    ++made;
  };
  for (const std::string_view text : {"", "a", "b", "ab", "ba", "abcdefgh", "abcdefgh1", "1"})
    add(Text(text));
  add(Text(std::string_view("\0", 1)));
  add(Text(std::string_view("\0\0", 2)));
  for (int64_t value = -50; value < 50; ++value) add(One<int64_t>(value));
  for (const double value : {0.5, 0.25, -0.5, 1e300, 0x1p60, std::nan("")}) add(One<double>(value));
  add(Array::Of<int64_t>({1}));
  made -= 1;  // a list of one is that number
  add(Array::Of<int64_t>({1, 2}));
  add(Array::Of<int64_t>({2, 1}));
  add(One<int64_t>(1), 1);
  EXPECT_EQ(hashes.size(), made);
}

// A saved run continues only if these stay.
TEST(HashValues, GivesTheGoldenValues) {
  EXPECT_EQ(HashValues(One<int64_t>(7), 0), HashValues(One<uint8_t>(7), 0));
  EXPECT_EQ(fmt::format("{:016x}", HashValues(One<int64_t>(7), 0)), "e3be8dd63e8fdb7e");
  EXPECT_EQ(fmt::format("{:016x}", HashValues(Text("stoker"), 1)), "c1a768e46db2a52f");
  EXPECT_EQ(fmt::format("{:016x}", HashValues(One<double>(0.5), 2)), "40d2ce36298c7ce7");
}

}  // namespace stoker::value_hash_test
