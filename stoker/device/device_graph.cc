#include "stoker/device/device_graph.h"

#include "stoker/base/plugin.h"
#include "stoker/device/device_graph_plugin.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// Kept open for the life of the process.
Status LoadPlugin(NewDeviceGraphFunction*& create) {
  STOKER_ASSIGN_OR_RETURN(const Plugin plugin,
                          Plugin::Load({.file = "stoker_cuda_graph.so",
                                        .tag_function = kDeviceGraphTagName,
                                        .tag = STOKER_PLUGIN_TAG,
                                        .when_missing = "it is built where CUDA's headers are"}));
  return plugin.Find(kNewDeviceGraphName, create);
}

}  // namespace

Result<std::unique_ptr<DeviceGraph>> NewDeviceGraph(c10::Device device) {
  if (!device.is_cuda()) {
    return Unavailable("{} has no graphs of launches; CUDA devices have", device.str());
  }
  static NewDeviceGraphFunction* create = nullptr;
  static const Status loaded = LoadPlugin(create);
  STOKER_RETURN_IF_ERROR(loaded);
  std::unique_ptr<DeviceGraph> graph;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { graph.reset(create(device.index())); }));
  return graph;
}

}  // namespace stoker
