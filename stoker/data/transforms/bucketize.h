#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Turns numbers into the numbers of buckets, as numpy.digitize does: a value x becomes how many of
// `bounds` are at most x. So bounds [18, 65] make three buckets: 0 below 18, 1 from 18 to below 65,
// 2 from 65. A field of any numbers becomes int64 of the same shape, so it works before and after
// `batch`. Values are compared as float64, and with a field of float32 bounds are rounded to that;
// infinities are in the first and the last bucket.
//
// A NaN becomes the number `nan`, or with `nan_to_middle` that of the bucket in the middle; without
// these, it is an error that names the element.
//
// In a recipe `bounds: auto` has the bounds learned from the training data (data/learn): the values
// that divide it into `quantiles` buckets of about equal counts. A value that fills several buckets
// is one bound, so there are fewer. Pipelines built in C++ give numbers.
//
// Errors: no bounds, or bounds that do not rise; a field of texts or files.
struct Bucketize {
  static constexpr std::string_view kName = "bucketize";
  static constexpr std::string_view kHelp =
      "Turns numbers into the numbers of the buckets that they lie in.";
  static constexpr bool kArranges = false;
  static constexpr std::string_view kLearns[] = {"bounds"};
  std::vector<double> bounds;
  std::string field = "image";
  std::optional<int64_t> nan;
  bool nan_to_middle = false;
  int64_t quantiles = 10;

  // Errors: kInvalidArgument, with what to put before: the field is a text or a file.
  static Status CheckIsNumbers(const Field& field);
  static void Describe(OptionTable<Bucketize>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
