#include "stoker/io/mapped_ranges.h"

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::mapped_ranges_test {

TEST(MappedRange, IsFoundByEachOfItsAddressesWhileItLives) {
  const std::vector<char> memory(100);
  std::optional<MappedRange> range(std::in_place, &memory[10], 50, "/data/a.npy");
  EXPECT_STREQ(FindMappedByte(&memory[10]).path, "/data/a.npy");
  EXPECT_EQ(FindMappedByte(&memory[10]).offset, 0u);
  EXPECT_EQ(FindMappedByte(&memory[59]).offset, 49u);
  EXPECT_EQ(FindMappedByte(&memory[59]).file_size, 50u);
  EXPECT_EQ(FindMappedByte(&memory[9]).path, nullptr);
  EXPECT_EQ(FindMappedByte(&memory[60]).path, nullptr);
  range.reset();
  EXPECT_EQ(FindMappedByte(&memory[10]).path, nullptr);
}

TEST(MappedRange, IsFoundAmongThousands) {
  const std::vector<char> memory(3000);
  std::vector<std::unique_ptr<MappedRange>> ranges;
  for (size_t i = 0; i < memory.size(); ++i) {
    ranges.push_back(std::make_unique<MappedRange>(&memory[i], 1, std::to_string(i)));
  }
  for (size_t i = 0; i < memory.size(); i += 2) ranges[i].reset();
  for (size_t i = 0; i < memory.size(); ++i) {
    const MappedByte found = FindMappedByte(&memory[i]);
    if (i % 2 == 0) {
      EXPECT_EQ(found.path, nullptr);
    } else {
      EXPECT_EQ(found.path, std::to_string(i));
    }
  }
}

TEST(MappedRange, IsFoundWhileOtherThreadsMakeAndDestroyTheirs) {
  const std::vector<char> memory(4000);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 1000; ++i) {
        const MappedRange range(&memory[1000 * t], 1000, std::to_string(t));
        const MappedByte found = FindMappedByte(&memory[1000 * t + i]);
        EXPECT_EQ(found.path, std::to_string(t));
        EXPECT_EQ(found.offset, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace stoker::mapped_ranges_test
