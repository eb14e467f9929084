// RowStack: collects elements into Rows one by one, without keeping the elements.
#pragma once

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"

namespace stoker {

// The first element determines the dtype and shape of each field and of the columns. Not
// thread-safe; `spec` and `scratch` are borrowed.
class RowStack {
 public:
  // For `capacity` elements at most.
  RowStack(const Spec& spec, int64_t capacity, Scratch& scratch);

  // Copies the element's arrays to the next row. kInvalidArgument if they differ in dtype or shape
  // from the first element's: names the field (by `spec`, or by number if it has too few) and the
  // two elements that disagree.
  Status Add(const Element& element);

  // Returns what was added. REQUIRES: `capacity` elements were added.
  Rows Take() &&;

 private:
  void MakeColumns(const Element& first);
  Status Disagreement(const Element& element, size_t field) const;

  const Spec& spec_;
  const int64_t capacity_;
  Scratch& scratch_;
  Rows rows_;
};

}  // namespace stoker
