// What a plug-in with a DeviceGraph exports (stoker/base/plugin.h says how tags are compared).
#pragma once

#include "stoker/device/device_graph.h"

namespace stoker {

inline constexpr const char* kDeviceGraphTagName = "StokerDeviceGraphTag";
inline constexpr const char* kNewDeviceGraphName = "StokerNewDeviceGraph";
using NewDeviceGraphFunction = DeviceGraph*(int device_index);

}  // namespace stoker
