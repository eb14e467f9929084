#include "stoker/tools/doctor/known_roofs.h"

#include <sys/stat.h>

#include <string>

#include "stoker/base/log.h"
#include "stoker/base/proc_text.h"
#include "stoker/machine/roofs.h"

namespace stoker {
namespace {

// Whether both paths exist and lie on one file system.
bool AreTogether(const std::string& a, const std::string& b) {
  struct stat of_a, of_b;
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 &&
         of_a.st_dev == of_b.st_dev;
}

}  // namespace

std::optional<MachineRoofs> FindKnownRoofs(const std::filesystem::path& data) {
  const Result<std::string> path = DefaultRoofsPath();
  if (!path.ok()) return std::nullopt;
  const Result<Roofs> kept = LoadRoofs(*path);
  if (!kept.ok()) {
    if (kept.status().code() != StatusCode::kNotFound) LogWarning("{}", kept.status().message());
    return std::nullopt;
  }
  if (kept->host != ReadSmallText("/proc/sys/kernel/hostname")) return std::nullopt;
  MachineRoofs roofs;
  for (const StorageRoofs& storage : kept->storage) {
    if (AreTogether(storage.path, data.string()))
      roofs.read_bytes_per_s = storage.read_bytes_per_s.value_or(0);
  }
  if (kept->decode_together) roofs.pictures_per_s = kept->decode_together->pictures_per_s;
  return roofs;
}

}  // namespace stoker
