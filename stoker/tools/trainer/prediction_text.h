// Answers as `stoker predict` prints them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/json.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {

// The numbers of the `top` likeliest classes, likeliest first; of equal ones the lower number.
std::vector<size_t> Likeliest(const Prediction& prediction, int64_t top);

// What the class is called, or its number.
std::string ClassName(const std::vector<std::string>& names, size_t number);

// [{"class", "label", "probability"}, ...] of the likeliest.
Json LikeliestJson(const Prediction& prediction, const std::vector<std::string>& names,
                   int64_t top);

// What the model gives: [2.5, -1, ...].
Json ScoresJson(const Prediction& prediction);

// A number that prints with the fewest digits which tell it from all other float32.
double AsShown(float number);

// Row `row` of an array as JSON: a number, true or false; of more dimensions lists of those; of
// bytes in one dimension, as texts are, the text without the zeros that `padded_batch` puts behind
// it. What is not finite is null.
Json RowValue(const Array& array, int64_t row);

}  // namespace stoker
