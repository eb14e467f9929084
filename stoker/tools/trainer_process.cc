#include "stoker/tools/trainer_process.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stoker/tools/interrupt.h"

namespace stoker {

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
