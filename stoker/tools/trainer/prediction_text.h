// Formats the predictions of `stoker predict`.
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

// Returns the names of the classes that a prediction, or one of its parts, chooses from; empty if
// they have none.
const std::vector<std::string>& ClassNamesFor(const Predictor& predictor,
                                              const Prediction& prediction);

// Returns the name of the class, or its number.
std::string ClassName(const std::vector<std::string>& names, size_t number);

// Returns [{"class", "label", "probability"}, ...] of the likeliest.
Json LikeliestJson(const Prediction& prediction, const std::vector<std::string>& names,
                   int64_t top);

// Returns the model's scores: [2.5, -1, ...].
Json ScoresJson(const Prediction& prediction);

// Returns a number that prints with the fewest digits that identify the float32.
double AsShown(float number);

// Returns row `row` of an array as JSON: a number, true or false; nested lists for more dimensions;
// for bytes in one dimension, as in texts, the text without the padding of `padded_batch`. Values
// that are not finite are null.
Json RowValue(const Array& array, int64_t row);

}  // namespace stoker
