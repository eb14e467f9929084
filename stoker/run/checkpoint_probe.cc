#include "stoker/run/checkpoint_probe.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "stoker/io/atomic_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAdvice =
    "put the run on a file system that all machines see at the same place, or set "
    "train.checkpoint.parts to false";

std::string MarkOf(const std::string& directory, int64_t rank) {
  return fmt::format("{}/rank-{}", directory, rank);
}

}  // namespace

Status WriteProbe(const std::string& directory, int64_t rank) {
  std::error_code unseen;
  if (!fs::is_directory(directory, unseen)) {
    return FailedPrecondition(
        "rank {} does not see {}, which rank 0 has made for parts of checkpoints; {}", rank,
        fs::path(directory).parent_path().string(), kAdvice);
  }
  return WriteFileAtomically(MarkOf(directory, rank), "");
}

Status CheckProbes(const std::string& directory, std::span<const std::string> hosts) {
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    std::error_code unseen;
    if (fs::exists(MarkOf(directory, static_cast<int64_t>(rank)), unseen)) continue;
    return FailedPrecondition(
        "rank {} on {} writes to another directory of the name {} than rank 0 reads, so "
        "checkpoints would lack its parts; {}",
        rank, hosts[rank], fs::path(directory).parent_path().string(), kAdvice);
  }
  return OkStatus();
}

}  // namespace stoker
