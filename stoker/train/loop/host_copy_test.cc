#include "stoker/train/loop/host_copy.h"

#include <torch/utils.h>

#include <algorithm>

#include "stoker/base/testing.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/tensor.h"

namespace stoker::host_copy_test {

TEST(HostCopy, HoldsWhatTheTensorsHadWhenItWasTaken) {
  const NamedTensors tensors = {{"a", torch::arange(6.0).view({2, 3})},
                                {"count", torch::full({}, 7, torch::kLong)}};
  HostCopy copy;
  STOKER_ASSERT_OK(copy.Take(tensors));
  tensors[0].tensor.fill_(-1);
  tensors[1].tensor.fill_(-1);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<NamedArray> arrays, copy.Arrays());
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "a");
  EXPECT_TRUE(torch::equal(ToTensor(arrays[0].array), torch::arange(6.0).view({2, 3})));
  EXPECT_EQ(arrays[1].array.values<int64_t>()[0], 7);
}

TEST(HostCopy, HasTheBytesThatWritingTheTensorsHasInAnyLayout) {
  const at::Tensor image = torch::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  HostCopy copy;
  STOKER_ASSERT_OK(copy.Take({{"image", image}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<NamedArray> arrays, copy.Arrays());
  STOKER_ASSERT_OK_AND_ASSIGN(const Array plain, ToArray(image));
  EXPECT_TRUE(std::ranges::equal(arrays[0].array.values<float>(), plain.values<float>()));
}

TEST(HostCopy, UsesItsMemoryAgainForTensorsAlike) {
  HostCopy copy;
  STOKER_ASSERT_OK(copy.Take({{"a", torch::zeros({8})}}));
  STOKER_ASSERT_OK_AND_ASSIGN(std::vector<NamedArray> first, copy.Arrays());
  const void* const memory = first[0].array.data();
  STOKER_ASSERT_OK(copy.Take({{"b", torch::ones({8})}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<NamedArray> second, copy.Arrays());
  EXPECT_EQ(second[0].array.data(), memory);
  EXPECT_EQ(second[0].name, "b");
  STOKER_ASSERT_OK(copy.Take({{"b", torch::ones({9})}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<NamedArray> other, copy.Arrays());
  EXPECT_EQ(other[0].array.shape(), Shape{9});
}

// Kernels that are launched after the copy must not reach into it.
TEST(HostCopy, FromADeviceIsTakenBetweenTheKernelsAroundIt) {
  if (!OpenDevice("cuda").ok()) GTEST_SKIP() << "no CUDA device here";
  const at::Tensor weights = torch::zeros({1 << 22}, torch::kCUDA);
  HostCopy copy;
  for (int step = 1; step <= 20; ++step) {
    weights.add_(1);
    STOKER_ASSERT_OK(copy.Take({{"weights", weights}}));
    weights.add_(1).sub_(1);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<NamedArray> arrays, copy.Arrays());
    const at::Tensor held = ToTensor(arrays[0].array);
    ASSERT_TRUE(torch::equal(held, torch::full_like(held, step)));
  }
}

}  // namespace stoker::host_copy_test
