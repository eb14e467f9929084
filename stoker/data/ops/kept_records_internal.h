// Records that a cache has kept, as elements and rows of a pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/data/core/element.h"
#include "stoker/formats/elements/record.h"

namespace stoker {

//   epoch  of the pass, which is that of the element's key
Element AsElement(ElementLayout::Record record, uint64_t epoch);

// Returns columns of the values of records. REQUIRES: there are records, and the shapes of all
// fields are known.
Rows GatherRecords(const ElementLayout& layout, std::span<const std::byte* const> records,
                   uint64_t epoch, Scratch& scratch);

}  // namespace stoker
