// DeviceGraph: work that is recorded once and launched again as a whole, so that a step of hundreds
// of small kernels costs the launch of one. torch has no device-generic interface for it, so it is
// a plug-in of its own (cuda_graph_plugin.cc), built where CUDA's headers are and loaded when asked
// for.
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

  // Calls `work` once and records what it asks of the device, which does none of it yet. What it
  // reads must stay where it is, and it must not wait for the device. Returns its tensors, in which
  // every Replay leaves its results. At most once; after an exception only the destructor.
  virtual Tensors Capture(const std::function<Tensors()>& work) = 0;

  // Has the device do the work, on the current stream; does not wait for it. Random numbers are
  // drawn as the work itself would.
  virtual void Replay() = 0;
};

// A graph for `device`. Loads the plug-in, stoker_cuda_graph.so, from the folder that
// STOKER_PLUGINS names, else from that of the running program; OpenDevice has opened the device.
// Errors (kUnavailable): a device that has none, such as the CPU; a plug-in that is not there, does
// not load or was built for another version, with its path and the reason.
Result<std::unique_ptr<DeviceGraph>> NewDeviceGraph(c10::Device device);

// What makes graphs: NewDeviceGraph, or in tests something that needs no device.
using DeviceGraphMaker = std::function<Result<std::unique_ptr<DeviceGraph>>(c10::Device device)>;

}  // namespace stoker
