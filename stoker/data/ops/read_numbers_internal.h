// Reads one number of every element before a pass begins: labels, weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Checks that `field` is one number in each element (an integer, if `integers`), and that `input`
// can be read by position, is finite, and has the same order in every pass. Errors begin with `who`
// and say what to do. Call it when the pipeline is built.
Status CheckNumbersCanBeRead(std::string_view who, const Dataset& input, const std::string& field,
                             bool integers);

// Returns the values of `field`, one for each element of the input of `node`. Call it in Prepare.
// REQUIRES: CheckNumbersCanBeRead succeeded. Makes every element of the input once, in a pass
// inside that of `context`: with its threads, within its budget, counted in its profile, and ended
// with kCancelled if it is to stop. T is int64_t or double.
template <typename T>
Result<std::vector<T>> ReadNumbers(const DatasetNode& node, const std::string& field,
                                   const OpenContext& context);

}  // namespace stoker
