#include "stoker/device/device_graph.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "stoker/base/testing.h"
#include "stoker/device/accelerator.h"

namespace stoker::device_graph_test {

using testing::HasSubstr;

TEST(DeviceGraph, OfTheCpuThereIsNone) {
  const auto graph = NewDeviceGraph(c10::kCPU);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(graph.status().message(), HasSubstr("cpu has no graphs"));
}

// Without a device the plug-in, where it was built, finds no libtorch_cuda.so.
TEST(DeviceGraph, SaysWhichPluginIsMissingOrDoesNotLoad) {
  if (OpenDevice("cuda").ok()) GTEST_SKIP() << "this machine has a CUDA device";
  const auto graph = NewDeviceGraph(c10::Device(c10::kCUDA, 0));
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(graph.status().message(), HasSubstr("stoker_cuda_graph.so"));
}

TEST(DeviceGraph, ReplaysItsWorkOnWhatItsInputsHoldThen) {
  const Result<OpenedDevice> device = OpenDevice("cuda");
  if (!device.ok()) GTEST_SKIP() << "no CUDA device: " << device.status().message();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto graph, NewDeviceGraph(device->device));
  const at::Tensor input = at::zeros({4}, at::TensorOptions(device->device));
  const auto results = graph->Capture([&] { return DeviceGraph::Tensors{(input + 1) * 2}; });
  ASSERT_EQ(results.size(), 1u);
  for (const float value : {1.F, 5.F}) {
    input.fill_(value);
    graph->Replay();
    EXPECT_EQ(results[0].sum().item<float>(), 4 * (value + 1) * 2);
  }
}

}  // namespace stoker::device_graph_test
