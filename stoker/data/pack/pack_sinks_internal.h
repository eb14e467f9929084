// The formats that pack_format.cc lists.
#pragma once

#include <string_view>

#include "stoker/data/core/dataset.h"
#include "stoker/data/pack/pack_format.h"

namespace stoker::internal {

// Calls `each` with every element of a source, in order.
Status ReadEach(const Result<Dataset>& source, const PackedElement& each);

// Returns the error for a field of bfloat16 in a format that stores NumPy arrays.
Status NoNumPyType(std::string_view format, const Field& field);

// .stoker shards: any Spec.
extern const PackFormat kStokerPackFormat;

// TFRecord files of tf.train.Examples (example_codec.h); elements that are one field `record`,
// bytes of any length, are written as they are.
extern const PackFormat kTfRecordPackFormat;

// tar archives for WebDataset: a member for each field of an element
// (data/sources/packed_members.h).
extern const PackFormat kTarPackFormat;

// LMDB databases: an entry for each field of an element
// (data/sources/packed_values.h).
extern const PackFormat kLmdbPackFormat;

// A directory with one .npy file for each field, of elements of one shape.
extern const PackFormat kNpyPackFormat;

}  // namespace stoker::internal
