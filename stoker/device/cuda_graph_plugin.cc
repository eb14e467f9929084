// The plug-in stoker_cuda_graph.so: DeviceGraph by CUDA's stream capture. Its symbols of torch are
// those of libtorch_cuda.so, which accelerator.cc has loaded.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "stoker/device/device_graph_plugin.h"

namespace stoker {
namespace {

class CudaGraph final : public DeviceGraph {
 public:
  explicit CudaGraph(c10::DeviceIndex device) : device_(device) {}

  // On a stream of its own: the default one cannot be captured. Only this thread's calls are held
  // against it, since autograd's thread launches kernels on this stream, and asks for memory, too.
  Tensors Capture(const std::function<Tensors()>& work) override {
    const c10::cuda::CUDAGuard device(device_);
    const c10::cuda::CUDAStream stream =
        c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_);
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on_stream(stream);
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    Tensors results;
    try {
      results = work();
    } catch (...) {
      End();
      throw;
    }
    graph_.capture_end();
    return results;
  }

  void Replay() override {
    const c10::cuda::CUDAGuard device(device_);
    graph_.replay();
  }

 private:
  // The stream must leave capturing whatever happened; that the graph is broken is known.
  void End() noexcept {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      return;
    }
  }

  const c10::DeviceIndex device_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace stoker

extern "C" {

__attribute__((visibility("default"))) const char* StokerDeviceGraphTag() {
  return STOKER_PLUGIN_TAG;
}

__attribute__((visibility("default"))) stoker::DeviceGraph* StokerNewDeviceGraph(int device_index) {
  return new stoker::CudaGraph(static_cast<c10::DeviceIndex>(device_index));
}
}
