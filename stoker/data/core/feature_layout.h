// What the values of a row of features mean: a batch has them as one field of float32, and a model
// of tables makes layers of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/combine_vectors.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Float32 holds whole numbers exactly below this, and so the numbers of categories.
inline constexpr int64_t kMostCategories = int64_t{1} << 24;

// Values of a list whose length differs from sample to sample: a row has room for all of them.
inline constexpr int64_t kMostOfAList = int64_t{1} << 16;

// Which part of a model gets a feature, where it has both: a linear layer (wide) and several layers
// (deep).
enum class FeaturePart { kBoth, kWide, kDeep };

// One feature: numbers, or categories by number, where -1 is none.
struct FeatureColumn {
  std::string name;
  int64_t slots = 1;       // values in the row: several for a list; shorter ones end with -1
  int64_t categories = 0;  // numbers 0 to categories - 1; 0: the values are numbers
  int64_t embedding = 0;   // the width of a category's vector; 0: a value of its own for each
  std::string shared;      // features of one such name have the same vectors; empty: its own
  CombineVectors combine = CombineVectors::kMean;  // of a list
  FeaturePart part = FeaturePart::kBoth;

  bool is_numbers() const { return categories == 0; }
  bool operator==(const FeatureColumn&) const = default;
};

// The features of a row in the order of their slots, numbers before categories.
struct FeatureLayout {
  std::vector<FeatureColumn> columns;

  bool empty() const { return columns.empty(); }
  bool HasCategories() const;
  int64_t NumNumbers() const;  // slots of numbers, the first of the row
  int64_t NumSlots() const;    // of the row
  bool operator==(const FeatureLayout&) const = default;
};

// Implemented by the transform that makes such rows (transforms/feature_row.h). Thread-safe.
class MakesFeatures {
 public:
  virtual ~MakesFeatures() = default;
  virtual const std::string& features_field() const = 0;
  virtual const FeatureLayout& layout() const = 0;
};

// Returns the layout of the rows in field `name`; empty if none of the stages makes such rows, or
// if the field was made anew after that.
FeatureLayout FindFeatureLayout(const Dataset& dataset, std::string_view name);

// Implemented by transforms that make category numbers (`lookup`, `words`, `sentencepiece`,
// `bucketize`, `hash`).
// Thread-safe.
class NumbersCategories {
 public:
  virtual ~NumbersCategories() = default;
  virtual const std::string& numbered_field() const = 0;
  // Returns how many numbers it gives, from 0.
  virtual int64_t num_categories() const = 0;
};

// Returns how many categories the field has by the last stage that numbered it.
std::optional<int64_t> FindNumCategories(const Dataset& dataset, std::string_view field);

}  // namespace stoker
