// The entries of `data.features` (feature_columns.h): their kinds and options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/options.h"

namespace stoker::internal {

inline constexpr std::string_view kAuto = "auto";
inline constexpr std::string_view kMean = "mean";
inline constexpr std::string_view kError = "error";

// A number as it is, around zero.
struct NumericFeature {
  static constexpr std::string_view kName = "numeric";
  std::string of;  // the column; empty: the one called as the feature
  std::string normalize{kAuto};
  std::optional<int64_t> quantiles;
  std::string missing{kAuto};
  bool indicator = false;
  std::optional<double> clip;
  std::string part = "both";

  bool normalizes() const { return normalize == kAuto; }
  bool fills() const { return missing == kMean || (missing == kAuto && normalizes()); }
  static void Describe(OptionTable<NumericFeature>& table);
};

// A number as one of several ranges.
struct BucketizedFeature {
  static constexpr std::string_view kName = "bucketized";
  std::string of;
  std::vector<double> bounds;  // empty: learned
  int64_t quantiles = 10;
  std::optional<int64_t> embedding;
  std::string part = "both";

  static void Describe(OptionTable<BucketizedFeature>& table);
};

// A word or a whole number as one of several categories, or a list of them.
struct CategoricalFeature {
  static constexpr std::string_view kName = "categorical";
  std::string of;
  std::vector<std::string> vocabulary;
  std::string file;
  std::optional<int64_t> hash, integers, limit;
  int64_t min_count = 1;
  std::optional<int64_t> embedding;
  std::string shared;
  std::string combine{kMean};
  std::string separator;  // not empty: a text is a list of words between which this stands
  std::optional<int64_t> most;
  std::string longer{kError};
  std::string part = "both";

  // Whether its words are those of the training data.
  bool learns() const { return vocabulary.empty() && file.empty() && !hash && !integers; }
  // Whether equal values have equal numbers in both.
  bool NumbersAs(const CategoricalFeature& other) const {
    return vocabulary == other.vocabulary && file == other.file && hash == other.hash &&
           integers == other.integers && !learns();
  }
  static void Describe(OptionTable<CategoricalFeature>& table);
};

// The combination of several columns or features as one category.
struct CrossedFeature {
  static constexpr std::string_view kName = "crossed";
  std::vector<std::string> of;
  int64_t buckets = 1000;
  std::optional<int64_t> embedding;
  std::string part{kAuto};

  static void Describe(OptionTable<CrossedFeature>& table);
};

// A column that is no feature and leaves the sample.
struct DroppedColumn {
  static constexpr std::string_view kName = "drop";
};

using AnyFeature = std::variant<NumericFeature, BucketizedFeature, CategoricalFeature,
                                CrossedFeature, DroppedColumn>;

// One entry of the section.
struct Feature {
  std::string name;
  ConfigLocation at;
  AnyFeature what;

  template <typename F>
  const F* As() const {
    return std::get_if<F>(&what);
  }
  // The column that it is made of; empty for a crossed one, which has several, and one that is
  // dropped.
  std::string Column() const;
};

// Reads the section. Errors: kInvalidArgument, all of them (base/problems.h), with place and
// feature: an unknown kind or option, options that exclude each other or say nothing.
Result<std::vector<Feature>> ReadFeatures(const ConfigNode& section);

}  // namespace stoker::internal
