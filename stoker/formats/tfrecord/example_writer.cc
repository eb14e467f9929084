#include "stoker/formats/tfrecord/example_writer.h"

namespace stoker {
namespace {

constexpr uint32_t kBytes = 2;
// Field numbers of the messages; README.md.
constexpr uint32_t kFeatures = 1, kFeatureLists = 2, kEntry = 1, kName = 1, kValue = 2;
constexpr uint32_t kBytesList = 1, kFloatList = 2, kInt64List = 3, kStep = 1, kListValue = 1;

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void AppendField(uint32_t field, std::string_view bytes, std::string& out) {
  AppendVarint(field << 3 | kBytes, out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

std::string Field(uint32_t field, std::string_view bytes) {
  std::string out;
  AppendField(field, bytes, out);
  return out;
}

std::string Entry(std::string_view name, std::string_view value) {
  return Field(kEntry, Field(kName, name) + Field(kValue, value));
}

}  // namespace

std::string BytesFeature(std::span<const std::string_view> values) {
  std::string list;
  for (const std::string_view value : values) AppendField(kListValue, value, list);
  return Field(kBytesList, list);
}

std::string BytesFeature(std::string_view value) {
  return BytesFeature(std::span<const std::string_view>(&value, 1));
}

std::string FloatFeature(std::span<const float> values) {
  const std::string_view packed(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return Field(kFloatList, values.empty() ? "" : Field(kListValue, packed));
}

std::string Int64Feature(std::span<const int64_t> values) {
  std::string packed;
  for (const int64_t value : values) AppendVarint(static_cast<uint64_t>(value), packed);
  return Field(kInt64List, values.empty() ? "" : Field(kListValue, packed));
}

ExampleBuilder& ExampleBuilder::Add(std::string_view name, std::string_view feature) {
  features_ += Entry(name, feature);
  return *this;
}

ExampleBuilder& ExampleBuilder::AddSteps(std::string_view name,
                                         std::span<const std::string> features) {
  std::string steps;
  for (const std::string& feature : features) AppendField(kStep, feature, steps);
  lists_ += Entry(name, steps);
  return *this;
}

std::string ExampleBuilder::Example() const { return Field(kFeatures, features_); }

std::string ExampleBuilder::SequenceExample() const {
  return Field(kFeatures, features_) + Field(kFeatureLists, lists_);
}

}  // namespace stoker
