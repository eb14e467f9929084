// The end of a process that has libtorch in it.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STOKER_REPORTS_AT_EXIT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STOKER_REPORTS_AT_EXIT 1
#endif
#endif

namespace stoker {

// Lets exit() and the return from main() end the process without destroying libtorch's static
// objects: its table of operators takes about 0.14 s to take apart, a third of a short command.
// Functions that are given to atexit() later, and static objects that are made later, as those of
// plug-ins, still have their turn, and those of libraries that were loaded before have not. Does
// nothing under sanitizers, which report at exit. Call it first in main.
inline void LeaveTorchsObjectsToTheKernel() {
#if !defined(STOKER_REPORTS_AT_EXIT)
  ::on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        ::_exit(status);
      },
      nullptr);
#endif
}

}  // namespace stoker
