// What the rules of the doctor want to know of a program beside what its threads do.
#pragma once

#include <cstdint>

#include "stoker/doctor/process_profile.h"
#include "stoker/machine/processes/host_counters.h"

namespace stoker {

// Returns the framework whose libraries the process has loaded; kUnknown also if this user may not
// see them.
Framework FrameworkOf(int64_t pid);

// Returns what the machine did between two readings, `seconds` apart; `other_runnable` is left 0.
HostTimes HostTimesBetween(const HostCounters& begin, const HostCounters& end, double seconds);

// Returns the seconds of CPU that this thread has used. Time on the wall would count other
// programs.
double ThreadCpuSeconds();

}  // namespace stoker
