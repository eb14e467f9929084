// The formats that pack_format.cc lists.
#pragma once

#include "stoker/data/pack/pack_format.h"

namespace stoker::internal {

// .stoker shards: any Spec.
extern const PackFormat kStokerPackFormat;

// TFRecord files of tf.train.Examples (example_codec.h); elements that are one field `record`,
// bytes of any length, are written as they are.
extern const PackFormat kTfRecordPackFormat;

// A directory with one .npy file for each field, of elements of one shape.
extern const PackFormat kNpyPackFormat;

}  // namespace stoker::internal
