#include "stoker/data/nodes/packed_keys.h"

#include <limits>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::packed_keys_test {

std::vector<SampleKey> RandomKeys(int64_t n, uint64_t epochs, uint64_t indices) {
  Rng rng(1, 2, 3, 4);
  std::vector<SampleKey> keys;
  for (int64_t i = 0; i < n; ++i)
    keys.push_back({rng.Below(epochs), static_cast<int64_t>(rng.Below(indices))});
  return keys;
}

TEST(PackedKeys, ComeBackWhateverTheyAre) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const std::vector<SampleKey> cases[] = {
      {},
      {{0, 0}},
      {{~uint64_t{0}, kLargest}, {0, 0}, {~uint64_t{0}, kLargest}},
      {{5, 7}, {5, 6}, {5, 1'000'000}, {6, 0}},
      RandomKeys(1000, 1, 1000),
      RandomKeys(1000, 2, uint64_t{1} << 62),
  };
  for (const std::vector<SampleKey>& keys : cases) {
    EXPECT_THAT(UnpackKeys(PackKeys(keys), std::ssize(keys)), IsOk());
    EXPECT_EQ(*UnpackKeys(PackKeys(keys), std::ssize(keys)), keys);
  }
}

TEST(PackedKeys, TakeLessThanTenBytesEachForABillionSamplesInAnyOrderOverTwoEpochs) {
  constexpr int64_t kKeys = 100'000;
  EXPECT_LT(PackKeys(RandomKeys(kKeys, 2, 1'000'000'000)).size(), 10u * kKeys);
  EXPECT_LT(PackKeys(RandomKeys(kKeys, 1, 1'000'000)).size(), 5u * kKeys);
}

TEST(PackedKeys, EveryProperPrefixAndEveryOtherCountIsAnError) {
  const std::vector<SampleKey> keys = RandomKeys(20, 2, 1000);
  const std::string text = PackKeys(keys);
  for (size_t n = 0; n < text.size(); ++n) {
    EXPECT_THAT(UnpackKeys(text.substr(0, n), 20), FailsWith(StatusCode::kDataLoss, "20 of them"))
        << n;
  }
  for (const int64_t count : {0, 19, 21}) {
    EXPECT_THAT(UnpackKeys(text, count), FailsWith(StatusCode::kDataLoss, "is damaged"));
  }
}

TEST(PackedKeys, RefuseWhatIsNoBase64AndIndicesBelowZero) {
  // 0, 1 epoch; index -1 is the number 1.
  const char* const kBroken[] = {"====", "AAE!", "AAE", "AAEB", "/////////////w=="};
  for (const char* text : kBroken) {
    EXPECT_THAT(UnpackKeys(text, 1), FailsWith(StatusCode::kDataLoss, "is damaged")) << text;
  }
}

}  // namespace stoker::packed_keys_test
