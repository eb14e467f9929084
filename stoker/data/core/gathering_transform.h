// Transforms that make samples of one shape out of samples of different shapes, such as parsers of
// records.
#pragma once

#include <span>

#include "stoker/data/core/element.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// A Transform may also implement this: a map that is read by position then passes it many samples
// at once, and it writes their results directly into columns. Must not draw random numbers.
class GatheringTransform {
 public:
  virtual ~GatheringTransform() = default;

  // Returns whether the results have fully known shapes, so that Gather works.
  virtual bool gathers() const = 0;
  // Transforms at least one sample; the rows have their keys. The bytes are those of
  // Transform::Apply; an error is that of the first sample at fault.
  virtual Result<Rows> Gather(std::span<const Element> elements, Scratch& scratch) const = 0;
};

}  // namespace stoker
