// Transforms that make samples of one shape out of samples of many, such as parsers of records.
#pragma once

#include <span>

#include "stoker/data/core/element.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// A Transform may also be this: then a map that is read by position hands it many samples at once,
// and their results are written straight into columns. Draws nothing.
class GatheringTransform {
 public:
  virtual ~GatheringTransform() = default;

  // Whether what comes out has fully known shapes, so that Gather works.
  virtual bool gathers() const = 0;
  // At least one sample, each put through the transform, with their keys. The bytes are those of
  // Transform::Apply; an error is that of the first sample at fault.
  virtual Result<Rows> Gather(std::span<const Element> elements, Scratch& scratch) const = 0;
};

}  // namespace stoker
