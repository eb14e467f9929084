// Stages that make each element of several elements of their input.
#pragma once

namespace stoker {

// Implemented by the nodes of batches, buckets and windows. Such an element may come long after the
// previous one, because a stream must first return all its parts.
class GroupsElements {
 public:
  virtual ~GroupsElements() = default;
};

}  // namespace stoker
