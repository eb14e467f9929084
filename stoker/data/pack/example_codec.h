// Converts elements to tf.train.Examples and back.
//
//   uint8 of one dimension whose length differs   a byte string (pictures, texts)
//   uint8 of any other shape but []               a byte string, the values in C order
//   uint8 [], bool, int8 to int64                 an Int64List
//   float16, bfloat16, float32                    a FloatList
//
// If a field has several dimensions and its extents differ, a second feature NAME/shape, an
// Int64List, holds the extents. float64 is refused: a FloatList would round it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/formats/tfrecord/example.h"

namespace stoker::internal {

// Immutable; thread-safe.
class ExampleCodec {
 public:
  // Errors: kInvalidArgument names the field that cannot be written.
  static Result<ExampleCodec> For(const Spec& spec);

  // Returns the element as a serialised Example; equal elements give equal bytes.
  std::string Encode(std::span<const Array> arrays) const;

  // Returns the arrays that were encoded. Errors: kDataLoss if features are missing or of another
  // size.
  Result<std::vector<Array>> Decode(std::span<const std::byte> example) const;

 private:
  ExampleCodec(Spec spec, FeatureNames names) : spec_(std::move(spec)), names_(std::move(names)) {}
  Result<Shape> ShapeOf(std::span<const std::byte> example, size_t field,
                        std::span<const FeatureValues> found, int64_t values) const;

  Spec spec_;
  FeatureNames names_;  // of the fields, then of their shapes
};

}  // namespace stoker::internal
