// The datatype and dataspace of a dataset.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/shape.h"
#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/formats/hdf5/object_internal.h"

namespace stoker::internal {

struct Hdf5Type {
  RowForm form = RowForm::kValues;
  size_t bytes = 0;   // of one value of the dataset, in the file
  StoredValue value;  // of kValues and kHeapList
  Shape inner;        // of kValues: the dimensions of an array that is one value
  // Of kFollowed: texts padded to `bytes`, or texts or lists of numbers in the global heap.
  enum class Followed : uint8_t { kText, kPaddedByZeros, kPaddedBySpaces, kHeapText, kHeapList };
  Followed followed = Followed::kText;
};

// `where` begins messages: "a.h5: /train/x". Errors: kDataLoss; kUnimplemented for types that
// Stoker has no arrays of (compound types, references, times).
Result<Hdf5Type> ParseHdf5Type(const Hdf5Content& file, const Hdf5Message& message,
                               const std::string& where);

struct Hdf5Space {
  Shape shape;
  Shape most;         // the extents that it may grow to; -1: unlimited
  bool null = false;  // a null dataspace: no values
};
Result<Hdf5Space> ParseHdf5Space(const Hdf5Content& file, const Hdf5Message& message);

}  // namespace stoker::internal
