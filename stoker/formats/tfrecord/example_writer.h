// Writes tf.train.Example and tf.train.SequenceExample, for TfRecordWriter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// Returns one serialised Feature: a step of a feature list, or a named feature of an Example.
std::string BytesFeature(std::span<const std::string_view> values);
std::string BytesFeature(std::string_view value);
std::string FloatFeature(std::span<const float> values);
std::string Int64Feature(std::span<const int64_t> values);

// Collects features, in the order given; equal calls give equal bytes. One thread at a time.
class ExampleBuilder {
 public:
  // Adds a feature of an Example, or of a SequenceExample's context.
  ExampleBuilder& Add(std::string_view name, std::string_view feature);
  // Adds a feature list of a SequenceExample, one Feature a step.
  ExampleBuilder& AddSteps(std::string_view name, std::span<const std::string> features);

  std::string Example() const;
  std::string SequenceExample() const;

 private:
  std::string features_, lists_;  // the maps, serialised
};

}  // namespace stoker
