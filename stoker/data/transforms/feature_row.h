#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/options/field_map.h"

namespace stoker {

// One feature of a row. In a recipe `carat: number`, or `cut: {is: category, embedding: 8}`.
struct RowFeature {
  static constexpr std::string_view kName = "feature";
  std::string name;  // in a recipe the key, and the field that holds it
  std::string is = "number";
  std::optional<int64_t> categories;
  std::optional<int64_t> embedding;
  std::string shared;
  std::string combine = "mean";
  std::optional<int64_t> most;
  std::string longer = "error";
  std::string part = "both";
  std::string missing = "error";
  bool indicator = false;
  std::optional<double> clip;

  static void Describe(OptionTable<RowFeature>& table);
};

using RowFeatures = FieldMap<RowFeature>;

// Makes one row of the features of a sample, for models of tables (`linear`, `mlp`,
// `wide_and_deep`): numbers as they are, then the numbers of categories, of which the model makes
// values of their own or vectors (core/feature_layout.h).
//
//   - feature_row:
//       features: {carat: number, cut: {is: category, embedding: 8}}
//
// The fields are taken out of the sample, and those in `drop` that it has (new rows may lack them),
// and the row, float32[values], is the last field. The section `data.features` writes these stages
// for you (docs/features.md).
//
// A feature is one value, or a list of equally many in each sample. Categories may also be lists
// that differ in length: `most` says how many values a sample may have, and the row has room for
// that many. How many categories there are is what the stage before says that numbered them
// (`lookup`, `words`, `bucketize`, `hash`), or `categories`. The number -1, and of a field of
// fractions NaN, is no category. A missing number (NaN) is an error, or becomes 0, the mean after
// `normalize`.
//
// Errors: a category number out of range, a fraction where a category is meant, a missing number,
// and a list with more values than `most` (unless `longer: cut`) name the sample.
struct FeatureRow {
  static constexpr std::string_view kName = "feature_row";
  static constexpr std::string_view kHelp =
      "Puts numbers and category numbers into one row, for models of tables.";
  static constexpr bool kArranges = false;
  RowFeatures features;
  std::string to = "features";
  std::vector<std::string> drop;

  static void Describe(OptionTable<FeatureRow>& table);
  Result<Dataset> Build(Dataset input) const;
};
template <>
const std::vector<Option>& OptionsOf<FeatureRow>();

}  // namespace stoker
