// `stoker top`: a live view of a run or of a process.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/commands/top_command.h"

namespace stoker {

// Shows the target until it ends or the user does: on a terminal as a screen, else as a line a
// second. Errors: those of TopWatch::Open; those of writing. A signal ends the process after the
// terminal has been restored.
Status RunTop(const TopArguments& arguments);

}  // namespace stoker
