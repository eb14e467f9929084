// Handing over to `stoker-train`, which holds libtorch (docs/adr/0003-two-executables.md).
#pragma once

#include "stoker/base/status.h"

namespace stoker {

// Whether this build or installation has stoker-train, where ExecTrainer looks for it.
bool HasTrainer();

// Replaces this process by stoker-train with the same arguments, so it only returns where that
// fails: kNotFound, with what to do, where the program was built or installed without it. It is
// looked for beside this executable, then in ../libexec/stoker/. A signal that arrives meanwhile
// waits for stoker-train. The threads that compute there wait for each other without spinning for
// long (GOMP_SPINCOUNT), unless the environment already says how they wait.
//   argv  as main got it, ended by a null pointer
Status ExecTrainer(char** argv);

}  // namespace stoker
