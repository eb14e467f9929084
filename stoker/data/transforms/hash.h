#pragma once

#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Turns words and whole numbers into category numbers without a list of them: a value becomes its
// hash modulo `buckets`, so different values may become the same number ("feature hashing":
// Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009). Several fields
// become one number for each combination of their values (a crossed column).
//
//   - hash: {fields: city, buckets: 1000}                             # city: int64
//   - hash: {fields: [color, cut], to: color_cut, buckets: 100}       # as well as these two
//
// The number depends on nothing but the values and `seed` (core/value_hash.h): white space and NULs
// around words are no part of them, and a whole number, in any integer type, is the same as the
// word that it is written as. With `to` the fields stay, and the new one is the last.
//
// A single field may also be a list of whole numbers, each of which is hashed.
//
// Errors: a field that is no text and no integers, and a list among several fields.
struct Hash {
  static constexpr std::string_view kName = "hash";
  static constexpr std::string_view kHelp =
      "Turns words or whole numbers, of one field or several, into category numbers by a hash.";
  static constexpr bool kArranges = false;
  std::vector<std::string> fields;
  int64_t buckets = 1000;
  std::string to;
  int64_t seed = 0;

  static void Describe(OptionTable<Hash>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
