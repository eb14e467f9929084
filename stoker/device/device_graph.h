// DeviceGraph: work that is recorded once and launched repeatedly as a whole, so that a step of
// hundreds of small kernels costs one launch. torch has no device-generic interface for it, so it
// is a plug-in (cuda_graph_plugin.cc), built if CUDA's headers are present and loaded on request.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// One thread at a time. Functions throw c10::Error.
class DeviceGraph {
 public:
  using Tensors = std::vector<at::Tensor>;

  virtual ~DeviceGraph() = default;

  // Calls `work` once and records its work for the device without executing it. Its inputs must
  // stay at their addresses, and it must not wait for the device. Returns its tensors, to which
  // every Replay writes its results. Call at most once; after an exception only destroy the object.
  virtual Tensors Capture(const std::function<Tensors()>& work) = 0;

  // Launches the work on the current stream; does not wait for it. Draws random numbers like the
  // work itself.
  virtual void Replay() = 0;
};

// Returns a graph for `device`. Loads the plug-in, stoker_cuda_graph.so, from the folder
// STOKER_PLUGINS, else from that of the running program. REQUIRES: OpenDevice has opened the
// device. Errors (kUnavailable): a device without graphs, such as the CPU; a plug-in that is
// missing, does not load or was built for another version, with its path and the reason.
Result<std::unique_ptr<DeviceGraph>> NewDeviceGraph(c10::Device device);

// Makes graphs: NewDeviceGraph, or a replacement in tests that needs no device.
using DeviceGraphMaker = std::function<Result<std::unique_ptr<DeviceGraph>>(c10::Device device)>;

}  // namespace stoker
