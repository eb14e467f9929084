#include "stoker/tools/inspect/inspect_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/tools/inspect/inspect_file.h"
#include "stoker/tools/inspect/verify_file.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kMostLines = 20;  // of damaged files, for people

// One figure of a field, of the files so far and of one more; null if it should be the same and
// is not.
Json JoinedFigure(const std::string& key, const Json& all, const Json& more) {
  if (key == "smallest" || key == "fewest") return std::min(all, more);
  if (key == "largest" || key == "most") return std::max(all, more);
  if (key == "samples" || key == "records") return all.get<int64_t>() + more.get<int64_t>();
  return all == more ? all : Json();
}

// The description of the fields of the files so far, joined with that of one more: null if they
// differ. How often each size occurs is not known here, so there is no overall mean.
Json JoinedFields(Json all, const Json& more) {
  if (!all.is_object() || !more.is_object() || all.size() != more.size()) return {};
  for (auto& [name, field] : all.items()) {
    if (!field.is_object() || !more.contains(name)) return {};
    field.erase("mean");
    for (auto& [key, value] : field.items()) {
      value = JoinedFigure(key, value, more.at(name).value(key, value));
      if (value.is_null()) return {};
    }
  }
  return all;
}

// The files of one format.
struct FormatSummary {
  int64_t files = 0;
  uint64_t bytes = 0;
  std::optional<int64_t> count;  // of samples, of those that have such
  Json fields;                   // null if they do not agree, or have none
  // Counts of .npy files, by their folder: they are the columns of its samples, if they have
  // equally many.
  std::map<std::string, int64_t> columns;

  void Add(const std::string& path, const Json& found, uint64_t size) {
    const Json own = found.value("fields", Json());
    fields = files == 0 ? own : JoinedFields(std::move(fields), own);
    ++files;
    bytes += size;
    if (!found.contains("count") || !found["count"].is_number_integer()) return;
    const auto samples = found["count"].get<int64_t>();
    if (found.value("format", "") == "npy") {
      const auto [folder, first] =
          columns.emplace(std::filesystem::path(path).parent_path().string(), samples);
      if (!first && folder->second == samples) return;
    }
    count = count.value_or(0) + samples;
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
  std::vector<Status> damages, others;  // why files could not be read: damage, and all else

  void Add(const std::string& path) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    ++files;
    if (!error) bytes += size;
    const Result<Inspection> found = InspectFile(path);
    const Status status = found.ok() ? found->damage : found.status();
    const bool damaged = status.code() == StatusCode::kDataLoss;
    if (!status.ok()) (damaged ? damages : others).push_back(status);
    const std::string format = found.ok() ? found->json.value("format", "")
                               : damaged  ? "damaged"
                                          : "not read";
    formats[format].Add(path, found.ok() ? found->json : Json::object(), error ? 0 : size);
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
  if (!summary.damages.empty()) return FilesNotWhole(std::ssize(summary.damages), summary.files);
  if (summary.others.empty()) return OkStatus();
  return FilesNotRead(std::ssize(summary.others), summary.files);
}

// Adds why files could not be read, and returns all the reasons.
Json ListReasons(const std::vector<Status>& reasons, std::string& text) {
  Json all = Json::array();
  for (size_t i = 0; i < reasons.size(); ++i) {
    all.push_back(reasons[i].message());
    if (i < kMostLines) text += fmt::format("  {}\n", Printable(reasons[i].message()));
  }
  if (reasons.size() > kMostLines)
    text += fmt::format("  and {} more; --json lists all\n", reasons.size() - kMostLines);
  return all;
}

}  // namespace

Result<Inspection> InspectFiles(const std::string& name, const std::vector<std::string>& files) {
  Summary summary;
  for (const std::string& path : files) summary.Add(path);
  Inspection out;
  out.damage = DamageOf(summary);
  Json formats = Json::object();
  for (const auto& [format, of] : summary.formats) formats[format] = of.ToJson();
  out.text = fmt::format("{}: {}, {}\n", Printable(name), CountText(summary.files, "file"),
                         ByteText(summary.bytes)) +
             TableOf(summary);
  Json damaged = ListReasons(summary.damages, out.text);
  Json others = ListReasons(summary.others, out.text);
  out.json = {{"file", name},
              {"format", "files"},
              {"files", summary.files},
              {"bytes", summary.bytes},
              {"formats", std::move(formats)},
              {"damaged", std::move(damaged)},
              {"not_read", std::move(others)}};
  return out;
}

}  // namespace stoker
