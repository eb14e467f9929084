#include "stoker/tools/program/trainer_process.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "stoker/tools/program/interrupt.h"

namespace stoker {
namespace {

// How often a thread of libgomp that waits for the others looks whether they are done before it
// sleeps. By default it looks 300,000 times, about as long as a time slice: where another process
// wants the CPU, the threads that wait hold it up while the one they wait for does not run. With
// 10,000 nothing is lost on idle CPUs, with 1,000 some 3 %.
constexpr const char* kSpins = "10000";

// libgomp reads these once, when it is loaded. What the user has set stays.
void WaitWithoutSpinningLong() {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    if (::getenv(name) != nullptr) return;
  }
  ::setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/0);
}

// Whether this is the program of the Python package `stoker`, whose trainer is in another package.
bool IsOfPackage(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder.parent_path() / "libstoker.so", error);
}

// Where stoker-train may be: beside this program, or where it is installed.
Result<std::vector<std::filesystem::path>> TrainerPlaces() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return FailedPrecondition("/proc/self/exe: {}; stoker-train is found through it: mount /proc",
                              error.message());
  }
  const std::filesystem::path folder = self.parent_path();
  if (IsOfPackage(folder)) {
    return std::vector<std::filesystem::path>{folder.parent_path().parent_path() /
                                              "stoker_train/bin/stoker-train"};
  }
  return std::vector<std::filesystem::path>{folder / "stoker-train",
                                            folder.parent_path() / "libexec/stoker/stoker-train"};
}

}  // namespace

bool HasTrainer() {
  const Result<std::vector<std::filesystem::path>> places = TrainerPlaces();
  std::error_code error;
  return places.ok() && std::ranges::any_of(*places, [&](const std::filesystem::path& program) {
           return std::filesystem::exists(program, error);
         });
}

std::string HowToGetTrainer() {
  const Result<std::vector<std::filesystem::path>> places = TrainerPlaces();
  return places.ok() && places->size() == 1
             ? "`pip install stoker-train` of the same version installs it, from a checkout `pip "
               "install ./python/train`"
             : "build with -DSTOKER_TRAIN=ON (./dev build does)";
}

Status ExecTrainer(char** argv) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> places, TrainerPlaces());
  std::error_code error;
  for (const std::filesystem::path& program : places) {
    if (!std::filesystem::exists(program, error)) continue;
    WaitWithoutSpinningLong();
    HoldInterrupts();
    ::execv(program.c_str(), argv);
    const int error_number = errno;
    EndOnInterrupt();
    return FailedPrecondition("{}: cannot be started: {}; build or install it again",
                              program.string(), std::generic_category().message(error_number));
  }
  if (places.size() == 1) {
    return NotFound(
        "the package stoker cannot train without the package stoker-train, and there is no {}; {}",
        places.front().string(), HowToGetTrainer());
  }
  return NotFound("this build of stoker cannot train: there is neither {} nor {}; {}",
                  places.front().string(), places.back().string(), HowToGetTrainer());
}

}  // namespace stoker
