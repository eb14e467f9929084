// The commands of `stoker` as a function, for programs that bring kinds of their own.
#pragma once

#include "stoker/run/kinds.h"

namespace stoker {

// What `stoker ARGUMENTS...` does, in this process; returns the exit code. All commands know the
// kinds that `add_kinds` adds: recipes may name them, `check` and `lint` judge them, and a run
// whose recipe names them is resumed, evaluated and used for predictions. To be called once, from
// main:
//
//   int main(int argc, char** argv) {
//     return stoker::TrainerMain(argc, argv, [](stoker::Kinds& kinds) { kinds.Add<SmallNet>(); });
//   }
//
//   add_kinds  may be null. A kind that cannot be added is reported, and the exit code is 2.
// Sets for the whole process handlers of signals, the allocator's thresholds and how files are read
// (SetFileAccess), as a program of its own needs them. GOMP_SPINCOUNT, which `stoker` sets for
// stoker-train, it cannot set: OpenMP has read its environment by then.
int TrainerMain(int argc, char** argv, void (*add_kinds)(Kinds& kinds) = nullptr);

}  // namespace stoker
