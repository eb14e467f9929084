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
  std::string target = {};        // of a link by name: what it leads to
  bool external = false;          // in another file
};

// Whether this object is a group.
bool IsHdf5Group(const Hdf5Object& object);

// All links of a group, in the order of the file's index. Groups of all three kinds: symbol tables,
// messages, and indices in a heap. Errors: kDataLoss; kUnimplemented for a heap that is compressed.
Result<std::vector<Hdf5Link>> ReadHdf5Links(const Hdf5Content& file, const Hdf5Object& group);

}  // namespace stoker::internal
