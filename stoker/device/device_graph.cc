#include "stoker/device/device_graph.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "stoker/device/device_graph_plugin.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

constexpr const char* kPlugin = "stoker_cuda_graph.so";

Result<std::filesystem::path> PluginPath() {
  std::error_code error;
  std::filesystem::path folder;
  if (const char* named = std::getenv("STOKER_PLUGINS")) {
    folder = named;
  } else {
    folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  }
  const std::filesystem::path path = folder / kPlugin;
  if (!error && std::filesystem::exists(path, error)) return path;
  return Unavailable(
      "there is no plug-in {}; it is built where CUDA's headers are, and is looked for beside the "
      "program, or in the folder that STOKER_PLUGINS names",
      path.string());
}

std::string LoadError() {
  const char* const reason = dlerror();
  return reason == nullptr ? "unknown" : reason;
}

struct Plugin {
  NewDeviceGraphFunction* create = nullptr;
};

// Kept open for the life of the process.
Result<Plugin> LoadPlugin() {
  STOKER_ASSIGN_OR_RETURN(const std::filesystem::path path, PluginPath());
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unavailable("{} does not load: {}", path.string(), LoadError());
  const auto version =
      reinterpret_cast<DeviceGraphVersionFunction*>(dlsym(library, kDeviceGraphVersionName));
  const auto create =
      reinterpret_cast<NewDeviceGraphFunction*>(dlsym(library, kNewDeviceGraphName));
  if (version == nullptr || create == nullptr) {
    return Unavailable("{} is no plug-in of ours: {}", path.string(), LoadError());
  }
  if (version() != kDeviceGraphVersion) {
    return Unavailable("{} has version {}, this program wants {}; build both together",
                       path.string(), version(), kDeviceGraphVersion);
  }
  return Plugin{create};
}

}  // namespace

Result<std::unique_ptr<DeviceGraph>> NewDeviceGraph(c10::Device device) {
  if (!device.is_cuda()) {
    return Unavailable("{} has no graphs of launches; CUDA devices have", device.str());
  }
  static const Result<Plugin> plugin = LoadPlugin();
  STOKER_RETURN_IF_ERROR(plugin.status());
  std::unique_ptr<DeviceGraph> graph;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { graph.reset(plugin->create(device.index())); }));
  return graph;
}

}  // namespace stoker
