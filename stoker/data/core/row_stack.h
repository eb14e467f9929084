// RowStack: makes Rows of elements that come one by one, so that none of them has to be kept.
#pragma once

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"

namespace stoker {

// The first element says what dtype and shape each field has; the columns are made then. Not
// thread-safe; `spec` and `scratch` are borrowed.
class RowStack {
 public:
  // For `capacity` elements at most.
  RowStack(const Spec& spec, int64_t capacity, Scratch& scratch);

  // Copies the element's arrays to the next row. kInvalidArgument where they are not like the
  // first element's: names the field (by `spec`, or by number where it has too few) and the two
  // elements that disagree.
  Status Add(const Element& element);

  // What was added: as many rows as `capacity`.
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
