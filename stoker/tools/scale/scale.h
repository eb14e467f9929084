// `stoker scale`: what more processes bring to a recipe.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/commands/scale_command.h"

namespace stoker {

// Trains once for each batch and number of ranks, one after the other, and prints the report.
// Errors: kInvalidArgument for a recipe that is wrong; kFailedPrecondition if a training fails,
// with its last words, after the report of those before it; kCancelled after a signal, likewise.
Status RunScale(const ScaleArguments& arguments);

}  // namespace stoker
