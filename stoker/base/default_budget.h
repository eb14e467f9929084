// The memory budget that all passes share which set none of their own.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Sets the budget of Ledger::Default() to `bytes` > 0, instead of DefaultMemoryBudget(). Call it
// before the first pass is opened. Errors: kFailedPrecondition if the ledger is already in use with
// another budget.
Status SetDefaultBudget(int64_t bytes);

// The same with lower priority, for a recipe: does nothing if SetDefaultBudget was called before.
// Returns false if the ledger is already in use with another budget.
bool WishForDefaultBudget(int64_t bytes);

// Returns the budget that Ledger::Default() has, or would have if it came into use now.
int64_t DefaultBudget();

// Returns how to raise the budget, for messages: "set Runtime::memory_budget higher", unless the
// program has registered other advice before it opened a pass. AddWayToRaiseTheBudget registers a
// setting that this process reads: after "--memory" and "train.memory in the recipe" the advice is
// "raise the budget (--memory, or train.memory in the recipe)". A setting added twice counts once.
// SetHowToRaiseTheBudget sets the advice for the case without settings.
const std::string& HowToRaiseTheBudget();
void SetHowToRaiseTheBudget(std::string how);
void AddWayToRaiseTheBudget(const std::string& setting);

}  // namespace stoker
