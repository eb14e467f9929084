// Batch sizes that were tried, as a table, a plot and JSON.
#pragma once

#include <span>
#include <string>

#include "stoker/base/json.h"
#include "stoker/tools/chart.h"
#include "stoker/train/batch_search.h"

namespace stoker {

// One line a size, the smallest first: images a second, milliseconds a step, memory, and what one
// image costs of both; or why it does not fit.
std::string TrialTable(std::span<const BatchTrial> trials);

// Images a second and memory over the batch size, on axes of powers.
Chart TrialChart(std::span<const BatchTrial> trials, const std::string& title);

Json TrialJson(std::span<const BatchTrial> trials);

}  // namespace stoker
