// Datasets that can be read by position, as streams. Only tests include it.
#pragma once

#include <memory>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_generator.h"

namespace stoker {

// Returns the elements of `source`, readable only in order.
inline Dataset StreamOf(const Dataset& source) {
  return FromGenerator(source.spec(), [source](uint64_t) {
    std::shared_ptr<Iterator> elements = *source.Open(Runtime::Inline());
    return [elements] { return elements->Next(); };
  });
}

}  // namespace stoker
