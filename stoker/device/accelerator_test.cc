#include "stoker/device/accelerator.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"

namespace stoker::accelerator_test {

TEST(Accelerator, TheCpuIsAlwaysThereAndSaysWhichInstructionsItUses) {
  STOKER_ASSERT_OK_AND_ASSIGN(const OpenedDevice opened, OpenDevice("cpu"));
  EXPECT_TRUE(opened.is_cpu());
  EXPECT_THAT(opened.description, testing::StartsWith("cpu ("));
  Synchronize(opened.device);
}

TEST(Accelerator, AnUnknownNameSaysWhatMayStandThere) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CPU"}) {
    EXPECT_THAT(OpenDevice(name),
                FailsWith(StatusCode::kInvalidArgument, "must be auto, cpu, cuda or cuda:N"))
        << name;
  }
}

// One of the two holds on every machine; the output says which.
TEST(Accelerator, CudaWorksOrSaysWhyNotAndAutoFollows) {
  const Result<OpenedDevice> cuda = OpenDevice("cuda");
  STOKER_ASSERT_OK_AND_ASSIGN(const OpenedDevice chosen, OpenDevice("auto"));
  if (!cuda.ok()) {
    std::puts(cuda.status().message().c_str());
    EXPECT_THAT(cuda, FailsWith(StatusCode::kUnavailable, "opening device cuda"));
    EXPECT_TRUE(chosen.is_cpu());
    return;
  }
  EXPECT_EQ(chosen.device, cuda->device);
  const at::Tensor sum = torch::ones({1000}, cuda->device).sum();
  Synchronize(cuda->device);
  EXPECT_EQ(sum.item<float>(), 1000);
  EXPECT_THAT(OpenDevice("cuda:99"), FailsWith(StatusCode::kInvalidArgument, "CUDA devices"));
}

}  // namespace stoker::accelerator_test
