// Learning one number of every element before a pass begins: labels, weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"

namespace stoker {

// That `field` is one number in each element (an integer, where `integers`), and that the elements
// of `input` can be read by position, end, and stand in the same order in every pass. Errors begin
// with `who` and say what to do; they appear when the pipeline is built.
Status CheckNumbersCanBeRead(std::string_view who, const Dataset& input, const std::string& field,
                             bool integers);

// The values of `field`, which CheckNumbersCanBeRead has found right, one for each element of the
// input of `node`, whose Prepare this is for. Makes every element of the input once, in a pass
// inside the one of `context`: with its threads, within its budget, counted in its profile, and
// ended with kCancelled where it is to stop. T is int64_t or double.
template <typename T>
Result<std::vector<T>> ReadNumbers(const DatasetNode& node, const std::string& field,
                                   const OpenContext& context);

}  // namespace stoker
