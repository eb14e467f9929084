// The side of each element of a `split` that is read by position.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/ops/chosen_positions_internal.h"
#include "stoker/data/ops/split_rule_internal.h"

namespace stoker {

struct Split;

// The fields of the elements by which they are split.
struct SplitFields {
  std::vector<size_t> key;         // empty: an element is its own key
  std::optional<size_t> class_of;  // shares are kept in each class
};

// Returns the hash of an element's key. REQUIRES: there are fields of the key.
uint64_t HashOfKey(const Element& element, const SplitFields& fields);

// Returns which elements of `input` are for evaluation. Where there are fields, every element is
// made once (ReadAndChoose). Memory while that lasts, outside the budget: about 100 bytes for each
// class, and 50 for each key if there are both. REQUIRES: HasFixedPositions(input). Errors: those
// of reading; kInvalidArgument for a class whose samples are all for evaluation, and for more than
// 65536 classes. Logs a warning of classes of which evaluation has no sample.
Result<std::shared_ptr<const ChosenPositions>> FindSides(const Dataset& input, const Split& options,
                                                         const SplitFields& fields,
                                                         const SplitRule& rule);

}  // namespace stoker
