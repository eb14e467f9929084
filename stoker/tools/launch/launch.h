// `stoker launch`: a command of this program in several processes on this machine.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/commands/launch_command.h"

namespace stoker {

// Runs them to their end. Starts them again where one fails, as often as `restarts` says, but not
// after wrong usage, which would be wrong again. Errors: kCancelled if this process got a signal;
// kInvalidArgument or kFailedPrecondition as the first that failed.
Status RunLaunch(const LaunchArguments& arguments);

}  // namespace stoker
