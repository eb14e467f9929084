// The memory budget that all passes of a process keep together which set none of their own.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// From now on Ledger::Default() has `bytes`, more than 0, in the place of DefaultMemoryBudget().
// Call it before the first pass is opened. Errors: kFailedPrecondition where it is in use already
// with another budget.
Status SetDefaultBudget(int64_t bytes);

// The same for a wish that gives way, such as that of a recipe: does nothing where SetDefaultBudget
// was called before. False where the budget is in use already with another size.
bool WishForDefaultBudget(int64_t bytes);

// How to raise the budget, for messages: "set Runtime::memory_budget higher", unless the program
// has said before it opened a pass what else its user can do. AddWayToRaiseTheBudget names a
// setting that this process reads, once: after "--memory" and "train.memory in the recipe" it is
// "raise the budget
// (--memory, or train.memory in the recipe)". SetHowToRaiseTheBudget says what holds without any.
const std::string& HowToRaiseTheBudget();
void SetHowToRaiseTheBudget(std::string how);
void AddWayToRaiseTheBudget(const std::string& setting);

}  // namespace stoker
