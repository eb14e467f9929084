#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/transforms/example_features_internal.h"

namespace stoker {

// Takes the features that are named out of records that hold a tf.train.Example, or with
// `sequences` a tf.train.SequenceExample (formats/tfrecord/README.md), and puts them in the place
// of the record.
//
//   type     of a fully known shape           with a first extent of -1
//   int64    int64, so many values            int64, as many as there are
//   float32  float32, so many values          float32, as many as there are
//   bytes    one byte string, its bytes as    the same, of any length (the default)
//            values of `raw`
//   bytes_list                                uint8[-1], all byte strings one behind the other, and
//                                             FIELD_lengths int64[-1], the length of each
//
// Where a feature is missing its `default` is taken. Without one, as many values as there are
// (shape -1, bytes_list) are then none, and any other is an error, as is another type or number of
// values; one byte string is needed too, whatever its length. A feature of `sequences`
// has a shape for each step: it becomes [-1, ...shape], or where the steps have lengths of their
// own all of their values and FIELD_lengths. A missing sequence has no steps. Errors name file,
// record and byte.
//
// Where all shapes are known and records are read by position, many are parsed at once, straight
// into the batch.
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
