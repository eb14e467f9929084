// The key `features` of a recipe's section `data`: what each column of a table is to a model. It
// stands for stages that both pipelines have after `source` and `split`.
//
//   features:
//     carat: numeric                                         # normalize, with `auto`
//     x: {numeric: {quantiles: 64}}                          # bucketize, then normalize
//     age: {bucketized: {bounds: [18, 65]}}                  # bucketize
//     cut: categorical                                       # lookup, with `auto`
//     city: {categorical: {hash: 1000, embedding: 8}}        # hash
//     day: {categorical: {integers: 7}}
//     clarity_and_color: {crossed: {of: [clarity, color], buckets: 1000}}    # hash
//     note: drop
//
// All of them end in `feature_row` (transforms/feature_row.h), whose field is called `features`.
// docs/features.md has the options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

inline constexpr std::string_view kFeaturesKey = "features";    // of the section `data`
inline constexpr std::string_view kFeaturesField = "features";  // of a sample

// Returns whether the section has the key, with a value.
bool HasFeatures(const ConfigNode& data);

// Returns the stages, each with the place of its feature; none if the section has no features.
// Errors: kInvalidArgument, with place and feature: an unknown kind or option, options that exclude
// each other, crossed features that do not exist.
Result<std::vector<ConfigNode>> FeatureStages(const ConfigNode& data);

// Returns the columns that features are made of or that are dropped, so that none of them is the
// target.
std::vector<std::string> ColumnsOfFeatures(const ConfigNode& data);

}  // namespace stoker
