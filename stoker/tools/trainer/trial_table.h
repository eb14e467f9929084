// Batch sizes that were tried, as a table, a plot and JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/train/tune/batch_search.h"

namespace stoker {

// `noun`: what the samples are (sample_noun.h).

// One line a size, the smallest first: samples a second, milliseconds a step, memory, and what one
// sample costs of both; or why it does not fit.
std::string TrialTable(std::span<const BatchTrial> trials, std::string_view noun);

// Samples a second and memory over the batch size, on axes of powers.
Chart TrialChart(std::span<const BatchTrial> trials, const std::string& title,
                 std::string_view noun);

Json TrialJson(std::span<const BatchTrial> trials);

}  // namespace stoker
