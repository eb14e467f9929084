// What a plug-in with a DeviceGraph exports. Program and plug-in are built together, by one
// compiler.
#pragma once

#include "stoker/device/device_graph.h"

namespace stoker {

// To be raised whenever DeviceGraph or the functions below change.
inline constexpr int kDeviceGraphVersion = 1;

inline constexpr const char* kDeviceGraphVersionName = "StokerDeviceGraphVersion";
inline constexpr const char* kNewDeviceGraphName = "StokerNewDeviceGraph";
using DeviceGraphVersionFunction = int();
using NewDeviceGraphFunction = DeviceGraph*(int device_index);

}  // namespace stoker
