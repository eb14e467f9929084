// The names in a group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/formats/hdf5/object_internal.h"

namespace stoker::internal {

struct Hdf5Link {
  std::string name;
  uint64_t address = kNoAddress;  // of the object's header
  std::string target = {};        // of a soft link: the path it leads to
  bool external = false;          // in another file
};

// Returns whether this object is a group.
bool IsHdf5Group(const Hdf5Object& object);

// Returns all links of a group, in the order of the file's index. Reads groups of all three kinds:
// symbol tables, messages, and indices in a heap. Errors: kDataLoss; kUnimplemented for a
// compressed heap.
Result<std::vector<Hdf5Link>> ReadHdf5Links(const Hdf5Content& file, const Hdf5Object& group);

}  // namespace stoker::internal
