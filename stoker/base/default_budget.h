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

// How to raise the budget, for messages: "set Runtime::memory_budget higher", unless a program has
// said what else its user can do, such as "raise the budget (--memory)", before it opened a pass.
const std::string& HowToRaiseTheBudget();
void SetHowToRaiseTheBudget(std::string how);

}  // namespace stoker
