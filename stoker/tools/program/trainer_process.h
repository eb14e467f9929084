// Starts `stoker-train`, which links libtorch (docs/adr/0003-two-executables.md).
#pragma once

#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Whether this build or installation has stoker-train, where ExecTrainer looks for it.
bool HasTrainer();

// Returns what to do where there is none, such as "`pip install stoker-train` ... installs it".
std::string HowToGetTrainer();

// Replaces this process by stoker-train with the same arguments, so it only returns if that fails:
// kNotFound, with what to do, if the program was built or installed without it. Searches beside
// this executable, then in ../libexec/stoker/; of the Python package, in the package stoker_train.
// Signals meanwhile are held for stoker-train. Limits
// the spinning of its computing threads (GOMP_SPINCOUNT), unless the environment sets how they
// wait.
//   argv  main's, ended by a null pointer
Status ExecTrainer(char** argv);

}  // namespace stoker
