#include "stoker/data/files_read.h"

#include <sys/stat.h>

namespace stoker {
namespace {

Status CheckFileNotRead(const Dataset& dataset, const struct stat& target,
                        const std::filesystem::path& path, std::string_view who) {
  for (const std::string& file : dataset.node().files()) {
    struct stat read {};
    if (::stat(file.c_str(), &read) != 0) continue;  // what is not there is not written over
    if (read.st_dev == target.st_dev && read.st_ino == target.st_ino) {
      return InvalidArgument("{}: the pipeline reads {}; give {} another path", who, path.string(),
                             who);
    }
  }
  for (const Dataset& input : dataset.node().inputs())
    STOKER_RETURN_IF_ERROR(CheckFileNotRead(input, target, path, who));
  return OkStatus();
}

}  // namespace

Status CheckNotRead(const Dataset& dataset, const std::filesystem::path& path,
                    std::string_view who) {
  struct stat target {};
  if (::stat(path.c_str(), &target) != 0) return OkStatus();  // no file, so none that is read
  return CheckFileNotRead(dataset, target, path, who);
}

}  // namespace stoker
