#include "stoker/formats/tfrecord/example_writer.h"

#include "stoker/formats/protobuf/wire_writer.h"
#include "stoker/formats/tfrecord/example_fields_internal.h"

namespace stoker {
namespace {

std::string Field(uint32_t field, std::string_view bytes) {
  return WireWriter().Bytes(field, bytes).bytes();
}

std::string Entry(std::string_view name, std::string_view value) {
  return WireWriter().Message(kEntry, WireWriter().Bytes(kName, name).Bytes(kValue, value)).bytes();
}

}  // namespace

std::string BytesFeature(std::span<const std::string_view> values) {
  WireWriter list;
  for (const std::string_view value : values) list.Bytes(kListValue, value);
  return Field(kBytesList, list.bytes());
}

std::string BytesFeature(std::string_view value) {
  return BytesFeature(std::span<const std::string_view>(&value, 1));
}

std::string FloatFeature(std::span<const float> values) {
  WireWriter list;
  if (!values.empty()) list.PackedFloats(kListValue, values);
  return Field(kFloatList, list.bytes());
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
  WireWriter steps;
  for (const std::string& feature : features) steps.Bytes(kStep, feature);
  lists_ += Entry(name, steps.bytes());
  return *this;
}

std::string ExampleBuilder::Example() const { return Field(kFeatures, features_); }

std::string ExampleBuilder::SequenceExample() const {
  return Field(kFeatures, features_) + Field(kFeatureLists, lists_);
}

}  // namespace stoker
