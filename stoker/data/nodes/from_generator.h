// A source that calls a C++ function for each element, in order.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// `begin(epoch)` starts a pass and returns the function that makes its elements one by one, until
// it returns nothing. Calls for one pass come from one thread at a time, but not always from the
// same one; several passes may be open at once. This source sets the elements' keys. Equal epochs
// must give equal elements: restoring a saved position calls the function again from the start,
// which costs as much as making those elements did. An exception becomes an error. If
// `ignore_errors` follows, an error costs one element, and the function is called for the next one;
// if it cannot continue, it must return nothing from then on. `name` is the stage's name in
// reports.
//
// Memory: the arrays are not charged to an account. They count against the budget while they wait
// in a queue, by their Spec before they are made; other memory of the function is not counted.
Dataset FromGenerator(
    Spec spec, std::function<std::function<Result<std::optional<Element>>()>(uint64_t epoch)> begin,
    std::string name = "generator");

}  // namespace stoker
