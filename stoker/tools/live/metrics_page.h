// The page /metrics.
#pragma once

#include <string>

#include "stoker/tools/live/live_facts.h"
#include "stoker/tools/live/machine_usage.h"

namespace stoker {

// Returns the facts in Prometheus's text format. docs/monitoring.md lists the metrics.
std::string MetricsPage(const LiveFacts& facts, const MachineUsage& machine);

}  // namespace stoker
