// Reads tf.train.Example and tf.train.SequenceExample: finds the wanted features of a message and
// copies their values; decodes nothing else. README.md has the layout.
//
// Errors: kDataLoss for a malformed message ("byte 17 of the record: ..."); the caller adds the
// record. All functions are thread-safe and allocate nothing except for error messages. Results
// refer to the bytes of the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

enum class FeatureKind : uint8_t { kMissing, kBytes, kFloat, kInt64 };

// Returns "no values", "bytes", "float", "int64".
std::string_view FeatureKindName(FeatureKind kind);

// One feature of a message: its BytesList, FloatList or Int64List, undecoded.
struct FeatureValues {
  FeatureKind kind = FeatureKind::kMissing;
  std::span<const std::byte> list;
};

// The steps of one feature list: its FeatureList, undecoded.
struct FeatureSteps {
  bool missing = true;
  std::span<const std::byte> list;
};

// The names of the wanted features, each once. Immutable.
class FeatureNames {
 public:
  explicit FeatureNames(std::vector<std::string> names);
  size_t size() const { return names_.size(); }
  const std::string& operator[](size_t i) const { return names_[i]; }

  // Returns the number of the feature called `name`, or size(). Tries `next` first and then sets it
  // to the following one, because writers keep one order.
  size_t Find(std::string_view name, size_t& next) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, size_t> by_name_;  // views of names_
};

// Fills `found`, one for each name, from a serialised Example.
Status FindFeatures(std::span<const std::byte> example, const FeatureNames& names,
                    std::span<FeatureValues> found);

// The same for a SequenceExample: features of its context, and feature lists.
Status FindSequenceFeatures(std::span<const std::byte> example, const FeatureNames& context_names,
                            std::span<FeatureValues> context, const FeatureNames& list_names,
                            std::span<FeatureSteps> lists);

// All features of a message, in its order; the names are borrowed too. For inspecting files:
// anything but a feature is an error, so other messages are rarely taken for an Example.
struct NamedFeature {
  std::string_view name;
  FeatureValues values;
};
struct NamedSteps {
  std::string_view name;
  FeatureSteps steps;
};
Status ListFeatures(std::span<const std::byte> example, std::vector<NamedFeature>& features,
                    std::vector<NamedSteps>& sequences);

// Appends the steps to `out`. `record`, here and below, is the message in which they were found,
// for errors.
Status SplitSteps(std::span<const std::byte> record, const FeatureSteps& steps,
                  std::vector<FeatureValues>& out);

// Returns how many values a feature has.
Result<int64_t> CountValues(std::span<const std::byte> record, const FeatureValues& values);

// Copies all values of a feature of this kind. `out` has room for CountValues of them. Returns how
// many values there are, so a caller that has not counted can detect a wrong number.
Result<int64_t> CopyInt64s(std::span<const std::byte> record, const FeatureValues& values,
                           std::span<int64_t> out);
Result<int64_t> CopyFloats(std::span<const std::byte> record, const FeatureValues& values,
                           std::span<float> out);
// Fills `out` with the first out.size() byte strings. Returns how many there are.
Result<int64_t> FindByteStrings(std::span<const std::byte> record, const FeatureValues& values,
                                std::span<std::span<const std::byte>> out);

}  // namespace stoker
