// The options of parse_example for the features of a message, and their conversion to arrays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/options.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/core/transform.h"
#include "stoker/formats/tfrecord/example.h"

namespace stoker {

// One feature. In a recipe `label: int64`, or `image: {type: bytes, shape: [1, 28, 28]}`.
struct ExampleFeature {
  static constexpr std::string_view kName = "feature";
  std::string name;  // in the message; in a recipe the key
  std::string type = "int64";
  // Of the values; the first extent may be -1. Empty: one value, or bytes of any length.
  std::vector<int64_t> shape;
  std::string raw = "uint8";               // the type of values in a byte string
  std::vector<std::string> default_value;  // as texts; none: the feature is required
  std::string field;                       // name of the field; empty: that of the feature

  static void Describe(OptionTable<ExampleFeature>& table);
};

// Some of them, as an option: in a recipe a map.
class ExampleFeatures {
 public:
  static constexpr std::string_view kTypeName = "map of features";

  ExampleFeatures() = default;
  ExampleFeatures(std::initializer_list<ExampleFeature> features) : features_(features) {}

  bool empty() const { return features_.empty(); }
  const std::vector<ExampleFeature>& features() const { return features_; }

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path&) {}

 private:
  std::vector<ExampleFeature> features_;
};

// The plan for reading one feature. Immutable. Errors of the methods do not name the record.
class FeaturePlan {
 public:
  // Errors: kInvalidArgument for incompatible options.
  static Result<FeaturePlan> Make(const ExampleFeature& feature);

  const std::string& name() const { return name_; }
  // Returns the fields it becomes: an array, followed by a field of lengths if a feature has
  // several parts of any length (bytes_list; the steps of a sequence).
  std::vector<Field> Fields(bool sequence) const;

  // Fully known shapes only: writes the values to `out`, which has room for them.
  Status WriteFixed(std::span<const std::byte> record, const FeatureValues& values,
                    std::byte* out) const;
  // Any shape: appends the arrays of Fields(false).
  Status MakeArrays(std::span<const std::byte> record, const FeatureValues& values,
                    Scratch& scratch, std::vector<Array>& out) const;
  // Appends the arrays of Fields(true).
  Status MakeSequence(std::span<const std::byte> record, const FeatureSteps& steps,
                      Scratch& scratch, std::vector<Array>& out) const;

 private:
  bool variable() const { return !shape_.empty() && shape_.front() == kUnknownDim; }
  Status SetDefault(const std::vector<std::string>& values);
  Status CheckKind(const FeatureValues& values) const;
  Status Missing() const;
  Status WrongCount(int64_t found) const;
  // Returns the number of values of a feature, in values of dtype_.
  Result<int64_t> Count(std::span<const std::byte> record, const FeatureValues& values) const;
  Status Copy(std::span<const std::byte> record, const FeatureValues& values, int64_t count,
              std::byte* out) const;
  Status MakeStrings(std::span<const std::byte> record, const FeatureValues& values,
                     Scratch& scratch, std::vector<Array>& out) const;

  std::string name_, field_;
  FeatureKind kind_ = FeatureKind::kInt64;
  bool strings_ = false;     // bytes_list
  bool one_string_ = false;  // one byte string, of any length
  DType dtype_ = DType::kInt64;
  Shape shape_;
  int64_t row_ = 1;  // values in one part of an unknown first extent, or in all
  std::vector<std::byte> default_;
  bool has_default_ = false;
};

}  // namespace stoker
