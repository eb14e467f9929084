// Runs this program again, with other arguments, and reads what it prints.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Returns the standard output of this executable with `words` as arguments, after it has ended with
// 0. Its standard error goes nowhere, but for the last line, which becomes the message of an error.
//   stop  once true, the process gets SIGTERM and is waited for; after 30 s it is killed
// Errors: kCancelled if `stop` is true; kFailedPrecondition with its message if it fails; those of
// starting it.
Result<std::string> OutputOfThisProgram(const std::vector<std::string>& words,
                                        const std::atomic<bool>& stop);

}  // namespace stoker
