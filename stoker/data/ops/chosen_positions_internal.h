// Elements of an input at positions that were chosen once: shared by split and unique.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/ops/position_set_internal.h"

namespace stoker {

struct ChosenPositions {
  PositionSet set;
  mutable KeptMemory kept;  // its bytes
};

// Says of element number `position`, whose hashes these are, whether it is chosen. Called in order.
using ChooseNext = std::function<Result<bool>(std::span<const int64_t> hashes, int64_t position)>;

// Writes the hashes of an element: so many bits of it as the choice depends on. Called on several
// threads at once.
using HashElement = std::function<void(const Element& element, std::span<int64_t> hashes)>;

// Returns the set that `find` fills with the positions of all elements of `input`. Of pipelines of
// recipes the last few sets are remembered, so that pipelines that begin alike, and a recipe that
// is read again, find them once; anew if a file of `input` has changed.
//   options  all that `find` depends on but the input, as text
// Errors: those of `find`.
Result<std::shared_ptr<const ChosenPositions>> FindPositions(
    const Dataset& input, const std::string& options,
    const std::function<Status(PositionSet& set)>& find);

// Makes every element of `input` once, on threads and within the process's budget, has `count`
// hashes made of each there, and asks `choose` about each in order. Ends with kCancelled, begun by
// `who`, if this thread is asked to stop (base/stop_scope.h). Errors: those of reading and of
// `choose`.
Status ReadAndChoose(const std::string& who, const Dataset& input, int64_t count,
                     const HashElement& hash, const ChooseNext& choose, PositionSet& set);

// Returns element number `position` of `input`, for messages. REQUIRES: HasFixedPositions.
Result<Element> ElementAt(const Dataset& input, int64_t position);

// Returns whether FindPositions makes sense for `input`: it is read by position, finite, and in the
// same order in every pass.
bool HasFixedPositions(const Dataset& input);

// Returns the elements of `input` whose positions are members of the set, or are none, in order and
// with their keys. By position. REQUIRES: HasFixedPositions.
Dataset AtPositions(Dataset input, std::string name, std::string details,
                    std::shared_ptr<const ChosenPositions> positions, bool member);

}  // namespace stoker
