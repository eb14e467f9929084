#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/transforms/example_features_internal.h"

namespace stoker {

// Replaces a record that holds a tf.train.Example, or with `sequences` a tf.train.SequenceExample
// (formats/tfrecord/README.md), by its named features.
//
//   type     of a fully known shape           with a first extent of -1
//   int64    int64, this many values int64, as many as there are
//   float32  float32, so many values          float32, as many as there are
//   bytes    one byte string, its bytes as    the same, of any length (the default)
//            values of `raw`
//   bytes_list                                uint8[-1], all byte strings concatenated, and
//                                             FIELD_lengths int64[-1], the length of each
//
// A missing feature gets its `default`. Without one, a feature of any length (shape -1, bytes_list)
// is empty, and any other, a byte string too, is an error, as is another type or number of values.
// A feature of `sequences` has a shape for each step: it becomes [-1, ...shape], or, if the lengths
// of steps vary, all of their values and FIELD_lengths. A missing sequence has no steps. Errors
// name file, record and byte.
//
// It is fastest if all shapes are known and records are read by position.
struct ParseExample {
  static constexpr std::string_view kName = "parse_example";
  static constexpr std::string_view kHelp =
      "Makes fields of tf.train.Example and SequenceExample records, as tfrecord gives them.";
  static constexpr bool kArranges = false;
  ExampleFeatures features;
  ExampleFeatures sequences;
  std::string field = "record";

  static void Describe(OptionTable<ParseExample>& table);
  Result<Dataset> Build(Dataset input) const;
};
template <>
const std::vector<Option>& OptionsOf<ParseExample>();

}  // namespace stoker
