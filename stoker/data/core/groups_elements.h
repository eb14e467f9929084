// Which stages make each element of several of their input's.
#pragma once

namespace stoker {

// Implemented by the nodes of batches, buckets and windows. Such an element may come long after the
// one before it, because a stream must first give all that it is made of.
class GroupsElements {
 public:
  virtual ~GroupsElements() = default;
};

}  // namespace stoker
