#include "stoker/run/run_summary.h"

#include <string>
#include <utility>

#include "stoker/io/kept_file.h"
#include "stoker/run/run_directory.h"

namespace stoker {

Result<std::optional<Json>> ReadRunSummary(const std::filesystem::path& root) {
  const std::string path = RunPaths{root}.summary();
  const Result<std::string> text = ReadKeptTextFile(path);
  if (!text.ok() && text.status().code() == StatusCode::kNotFound) return std::nullopt;
  if (!text.ok()) return text.status();
  Json summary = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (summary.is_object()) return std::optional<Json>(std::move(summary));
  return DataLoss("{}: this is no JSON object; the file is damaged: delete it and look again",
                  path);
}

}  // namespace stoker
