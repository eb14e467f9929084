// Formats trials of batch sizes as a table, a plot and JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/train/tune/batch_search.h"

namespace stoker {

// `noun`: what the samples are (sample_noun.h).

// Returns one line a size, the smallest first: samples a second, milliseconds a step, memory, and
// the cost of one sample in both; or why it does not fit.
std::string TrialTable(std::span<const BatchTrial> trials, std::string_view noun);

// Returns a chart of samples a second and memory over the batch size, on logarithmic axes.
Chart TrialChart(std::span<const BatchTrial> trials, const std::string& title,
                 std::string_view noun);

Json TrialJson(std::span<const BatchTrial> trials);

}  // namespace stoker
