#include "stoker/data/files_read.h"

#include <system_error>

namespace stoker {

Status CheckNotRead(const Dataset& dataset, const std::filesystem::path& path,
                    std::string_view who) {
  std::error_code none;  // what is not there is no file that is read
  if (!std::filesystem::exists(path, none)) return OkStatus();
  for (const std::string& file : dataset.node().files()) {
    if (std::filesystem::equivalent(path, file, none)) {
      return InvalidArgument("{}: the pipeline reads {}; give {} another path", who, path.string(),
                             who);
    }
  }
  for (const Dataset& input : dataset.node().inputs())
    STOKER_RETURN_IF_ERROR(CheckNotRead(input, path, who));
  return OkStatus();
}

}  // namespace stoker
