#include "stoker/data/core/key_lists.h"

#include <thread>

#include "stoker/base/testing.h"

namespace stoker::key_lists_test {

TEST(KeyLists, AreEmptyAndHaveRoomWhateverWasDroppedBefore) {
  for (const size_t n : {0, 1, 128, 100'000}) {
    DropKeyList(std::vector<SampleKey>(77, SampleKey{.epoch = 1, .index = 2}));
    const std::vector<SampleKey> keys = EmptyKeyList(n);
    EXPECT_TRUE(keys.empty());
    EXPECT_GE(keys.capacity(), n);
  }
}

TEST(KeyLists, OfWhatAThreadDropsItGetsTheMemoryBack) {
  std::vector<SampleKey> keys = EmptyKeyList(4000);
  const SampleKey* const memory = keys.data();
  DropKeyList(std::move(keys));
  std::thread([&] { EXPECT_NE(EmptyKeyList(4000).data(), memory); }).join();
  EXPECT_EQ(EmptyKeyList(4000).data(), memory);
}

TEST(KeyLists, HaveTheKeysOfPositionsInTheirOrder) {
  const std::vector<int64_t> positions = {7, 0, 7};
  EXPECT_EQ(KeysAt(positions, 3), (std::vector<SampleKey>{{3, 7}, {3, 0}, {3, 7}}));
}

TEST(KeyLists, KeepNothingLarge) {
  DropKeyList(std::vector<SampleKey>(1 << 20));
  EXPECT_LT(EmptyKeyList(0).capacity(), size_t{1} << 20);
}

}  // namespace stoker::key_lists_test
