#include "stoker/tools/trainer_process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "stoker/tools/interrupt.h"

namespace stoker {
namespace {

// How often a thread of libgomp that waits for the others looks whether they are done before it
// sleeps. Unless it is told otherwise it looks 300,000 times, about as long as a time slice: where
// another process wants the CPU, the threads that wait hold it up while the one they wait for does
// not run. With 10,000 nothing is lost on idle CPUs, with 1,000 some 3 %.
constexpr const char* kSpins = "10000";

// libgomp reads these once, when it is loaded. What the user has set stays.
void WaitWithoutSpinningLong() {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    if (::getenv(name) != nullptr) return;
  }
  ::setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/0);
}

}  // namespace

Status ExecTrainer(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return FailedPrecondition("/proc/self/exe: {}; stoker-train is found through it: mount /proc",
                              error.message());
  }
  const std::filesystem::path folder = self.parent_path();
  const std::filesystem::path beside = folder / "stoker-train";
  const std::filesystem::path installed = folder.parent_path() / "libexec/stoker/stoker-train";
  for (const std::filesystem::path& program : {beside, installed}) {
    if (!std::filesystem::exists(program, error)) continue;
    WaitWithoutSpinningLong();
    HoldInterrupts();
    ::execv(program.c_str(), argv);
    const int error_number = errno;
    EndOnInterrupt();
    return FailedPrecondition("{}: cannot be started: {}; build or install it again",
                              program.string(), std::generic_category().message(error_number));
  }
  return NotFound(
      "this build of stoker cannot train: there is neither {} nor {}; "
      "build with -DSTOKER_TRAIN=ON (./dev build does)",
      beside.string(), installed.string());
}

}  // namespace stoker
