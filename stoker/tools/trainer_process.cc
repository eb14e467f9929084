#include "stoker/tools/trainer_process.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace stoker {

Status ExecTrainer(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return ErrnoStatus(error.value(), "/proc/self/exe: needed to find stoker-train");
  const std::filesystem::path folder = self.parent_path();
  const std::filesystem::path beside = folder / "stoker-train";
  const std::filesystem::path installed = folder.parent_path() / "libexec/stoker/stoker-train";
  for (const std::filesystem::path& program : {beside, installed}) {
    if (!std::filesystem::exists(program, error)) continue;
    ::execv(program.c_str(), argv);
    return ErrnoStatus(errno, program.string());
  }
  return NotFound(
      "this build of stoker cannot train: there is neither {} nor {}; build with -DSTOKER_TRAIN=ON "
      "(./dev build does)",
      beside.string(), installed.string());
}

}  // namespace stoker
