#include "stoker/tools/inspect_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "stoker/tools/text.h"

namespace stoker {
namespace {

constexpr size_t kMostLines = 20;  // of damaged files, for people

// The files of one format.
struct FormatSummary {
  int64_t files = 0;
  uint64_t bytes = 0;
  std::optional<int64_t> count;  // of samples, of those that have such
  Json fields;                   // null where they do not agree, or have none

  void Add(const Json& found, uint64_t size) {
    const Json own = found.value("fields", Json());
    fields = files == 0 || fields == own ? own : Json();
    ++files;
    bytes += size;
    if (!found.contains("count") || !found["count"].is_number_integer()) return;
    count = count.value_or(0) + found["count"].get<int64_t>();
  }
  Json ToJson() const {
    Json json{{"files", files}, {"bytes", bytes}};
    if (count) json["count"] = *count;
    if (!fields.is_null()) json["fields"] = fields;
    return json;
  }
};

struct Summary {
  int64_t files = 0;
  uint64_t bytes = 0;
  std::map<std::string, FormatSummary> formats;
  std::vector<Status> damages;

  void Add(const std::string& path) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    ++files;
    if (!error) bytes += size;
    const Result<Inspection> found = InspectFile(path);
    const Status status = found.ok() ? found->damage : found.status();
    if (!status.ok()) damages.push_back(status);
    const std::string format = found.ok() ? found->json.value("format", "") : "damaged";
    formats[format].Add(found.ok() ? found->json : Json::object(), error ? 0 : size);
  }
};

std::string TableOf(const Summary& summary) {
  std::vector<std::vector<std::string>> rows = {{"format", "files", "records", "size"}};
  for (const auto& [format, of] : summary.formats) {
    rows.push_back({format, WithThousands(static_cast<double>(of.files)),
                    of.count ? WithThousands(static_cast<double>(*of.count)) : "",
                    ByteText(of.bytes)});
  }
  return TableText(rows, 2);
}

Status DamageOf(const Summary& summary) {
  if (summary.damages.empty()) return OkStatus();
  return DataLoss("{} of {} files are not whole; make or copy them again", summary.damages.size(),
                  summary.files);
}

}  // namespace

Result<Inspection> InspectFiles(const std::string& name, const std::vector<std::string>& files) {
  Summary summary;
  for (const std::string& path : files) summary.Add(path);
  Inspection out;
  out.damage = DamageOf(summary);
  Json formats = Json::object(), damaged = Json::array();
  for (const auto& [format, of] : summary.formats) formats[format] = of.ToJson();
  out.text =
      fmt::format("{}: {} files, {}\n", name, WithThousands(static_cast<double>(summary.files)),
                  ByteText(summary.bytes)) +
      TableOf(summary);
  for (size_t i = 0; i < summary.damages.size(); ++i) {
    damaged.push_back(summary.damages[i].message());
    if (i < kMostLines) out.text += fmt::format("  {}\n", summary.damages[i].message());
  }
  if (summary.damages.size() > kMostLines)
    out.text +=
        fmt::format("  and {} more; --json lists all\n", summary.damages.size() - kMostLines);
  out.json = {{"file", name},
              {"format", "files"},
              {"files", summary.files},
              {"bytes", summary.bytes},
              {"formats", std::move(formats)},
              {"damaged", std::move(damaged)}};
  return out;
}

}  // namespace stoker
