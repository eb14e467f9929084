// Reading tf.train.Example and tf.train.SequenceExample: finds the wanted features of a message and
// copies their values; nothing else is decoded. README.md has the layout.
//
// Errors: kDataLoss for what is no such message ("byte 17 of the record: ..."); the caller knows
// which record it is. All functions are thread-safe and allocate nothing, but for messages of
// errors. The bytes of the message are borrowed by what is found in it.
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

// "no values", "bytes", "float", "int64".
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

// Which features are wanted: names, each once. Immutable.
class FeatureNames {
 public:
  explicit FeatureNames(std::vector<std::string> names);
  size_t size() const { return names_.size(); }
  const std::string& operator[](size_t i) const { return names_[i]; }

  // The number of the feature called `name`, or size(). `next`, where it is looked for first, then
  // becomes the one behind: writers keep to one order.
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

// All that a message has, in its order; the names are borrowed as well. For looking into files:
// whatever is no feature is an error, so other messages are rarely taken for an Example.
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

// The steps, appended to `out`. `record`, here and below, is the message that they were found in,
// for errors.
Status SplitSteps(std::span<const std::byte> record, const FeatureSteps& steps,
                  std::vector<FeatureValues>& out);

// How many values a feature has.
Result<int64_t> CountValues(std::span<const std::byte> record, const FeatureValues& values);

// Copies all values of a feature of this kind. `out` has room for CountValues of them; where it is
// called without counting, a wrong number is an error: the functions say how many there are.
Result<int64_t> CopyInt64s(std::span<const std::byte> record, const FeatureValues& values,
                           std::span<int64_t> out);
Result<int64_t> CopyFloats(std::span<const std::byte> record, const FeatureValues& values,
                           std::span<float> out);
// Where the byte strings lie: fills `out` with the first out.size() of them, and says how many
// there are.
Result<int64_t> FindByteStrings(std::span<const std::byte> record, const FeatureValues& values,
                                std::span<std::span<const std::byte>> out);

}  // namespace stoker
