// Elements of an input at positions that were chosen once: shared by split and unique.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/ops/position_set_internal.h"

namespace stoker {

struct ChosenPositions {
  PositionSet set;
  mutable KeptMemory kept;  // its bytes
};

// Says of the next element, in order, whether its position is chosen.
using ChooseNext = std::function<Result<bool>(const Element& element)>;

// Returns the set that `find` fills with the positions of all elements of `input`. Of pipelines of
// recipes the last few sets are remembered, so that pipelines that begin alike, and a recipe that
// is read again, find them once; anew if a file of `input` has changed.
//   options  all that `find` depends on but the input, as text
// Errors: those of `find`.
Result<std::shared_ptr<const ChosenPositions>> FindPositions(
    const Dataset& input, const std::string& options,
    const std::function<Status(PositionSet& set)>& find);

// Makes every element of `input` once, on threads and within the process's budget, and asks
// `choose` about each in order. Ends with kCancelled, begun by `who`, if this thread is asked to
// stop (base/stop_scope.h). Errors: those of reading and of `choose`.
Status ReadAndChoose(std::string_view who, const Dataset& input, const ChooseNext& choose,
                     PositionSet& set);

// Returns whether FindPositions makes sense for `input`: it is read by position, finite, and in the
// same order in every pass.
bool HasFixedPositions(const Dataset& input);

// Returns the elements of `input` whose positions are members of the set, or are none, in order and
// with their keys. By position. REQUIRES: HasFixedPositions.
Dataset AtPositions(Dataset input, std::string name, std::string details,
                    std::shared_ptr<const ChosenPositions> positions, bool member);

}  // namespace stoker
