#include "stoker/data/pack/pack_record_internal.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "stoker/base/json_file.h"
#include "stoker/data/nodes/cache_store.h"
#include "stoker/io/kept_file.h"
#include "stoker/io/temporary.h"

namespace stoker::internal {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 2;

// "--shards 30, before 20": the options of one packing that another has with other values.
std::string DifferenceOf(const Json& options, const Json& before, std::string_view called) {
  std::string text;
  if (!before.is_object()) return text;
  for (const auto& [name, value] : options.items()) {
    const Json other = before.value(name, Json());
    if (!other.is_string() || other == value) continue;
    text += fmt::format("{}{} {}, {} {}", text.empty() ? "" : "; ", name, value.get<std::string>(),
                        called, other.get<std::string>());
  }
  return text;
}

// "12 (x-00000-of-00012.stoker, ...)"
std::string ListOf(const Json& names) {
  return fmt::format("{} ({}{})", names.size(), names.empty() ? "" : names[0].get<std::string>(),
                     names.size() > 1 ? ", ..." : "");
}

// Names of files in one directory: a manifest reaches nothing elsewhere, whatever it says.
bool AreNames(const Json& names) {
  return names.is_array() && std::ranges::all_of(names, [](const Json& json) {
           if (!json.is_string()) return false;
           const std::string name = json.get<std::string>();
           return !name.empty() && name != "." && name != ".." && NameOf(name) == name;
         });
}

bool AreIds(const Json& json, size_t number) {
  return json.is_array() && json.size() == number && std::ranges::all_of(json, [](const Json& id) {
           return id.is_null() || (id.is_array() && id.size() == 2 && id[0].is_number_unsigned() &&
                                   id[1].is_number_unsigned());
         });
}

}  // namespace

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

std::string DirectoryOf(const std::string& path) {
  const std::string directory = fs::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

std::string NameOf(const std::string& path) { return fs::path(path).filename().string(); }

Status CheckDirectory(const std::string& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return OkStatus();
  return NotFound("{}: there is no such directory; make it first (mkdir -p), or check the path",
                  directory);
}

std::string RecordPathOf(const std::string& destination) {
  return (fs::path(DirectoryOf(destination)) / fmt::format(".{}.stoker-pack", NameOf(destination)))
      .string();
}

Json PackIdentityOf(const std::string& origin, const std::vector<std::string>& files,
                    const Json& part) {
  Json names = Json::array();
  for (const std::string& file : files) names.push_back(NameOf(file));
  Json identity = {{"stoker_pack", kVersion}, {"origin", origin}, {"files", names}};
  if (!part.is_null()) identity["part"] = part;
  return AsStoredJson(identity);
}

std::string PackDifference(const Json& identity, const Json& options, const Json& stored,
                           std::string_view other) {
  std::string difference = DifferenceOf(options, stored.value("options", Json()), other);
  const auto before = stored["origin"].get<std::string>();
  const auto now = identity["origin"].get<std::string>();
  if (difference.empty() && before != now) difference = OriginDifference(before, now);
  if (!difference.empty()) return difference;
  return fmt::format("files {}, {} {}", ListOf(identity["files"]), other, ListOf(stored["files"]));
}

Json FileIdsToJson(const std::vector<std::optional<FileId>>& ids) {
  Json json = Json::array();
  for (const std::optional<FileId>& id : ids)
    json.push_back(id ? Json::array({id->first, id->second}) : Json());
  return json;
}

std::optional<Json> ParsePackRecord(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto has = [&](const char* key) { return json.contains(key); };
  const bool right =
      json.is_object() && json.value("stoker_pack", Json()) == Json(kVersion) && has("origin") &&
      json["origin"].is_string() && has("files") && AreNames(json["files"]) && has("replaces") &&
      AreNames(json["replaces"]) && has("state") && has("done") && json["done"].is_array() &&
      (!has("before") || AreIds(json["before"], json["files"].size())) &&
      json["done"].size() <= json["files"].size() &&
      std::ranges::all_of(json["done"], [](const Json& shard) {
        return shard.is_object() && shard.value("elements", Json()).is_number_integer() &&
               shard.value("bytes", Json()).is_number_unsigned() &&
               shard.value("checksum", Json()).is_number_unsigned();
      });
  return right ? std::optional(std::move(json)) : std::nullopt;
}

Result<std::optional<Json>> ReadPackRecord(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadKeptTextFile(path));
  return ParsePackRecord(text);
}

namespace {

// The name that a temporary is to have at last. A file that is made aside, until it takes its
// place, is the temporary of a temporary.
std::string_view NameOfTemporary(std::string_view name) {
  std::string_view at_last;
  for (name = FinalNameIn(name); !name.empty(); name = FinalNameIn(name)) at_last = name;
  return at_last;
}

}  // namespace

Status RemoveStaleOf(const std::string& directory, std::span<const std::string> files) {
  std::set<std::string, std::less<>> own;
  for (const std::string& file : files) own.insert(NameOf(file));
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (own.contains(NameOfTemporary(name))) found.push_back(std::move(name));
  }
  if (error) return ErrnoStatus(error.value(), directory + ": cannot be listed");
  for (const std::string& name : found)
    STOKER_RETURN_IF_ERROR(RemoveIfStale(directory, name).status());
  return OkStatus();
}

Result<std::vector<PartRecord>> PartRecordsOf(const std::string& destination) {
  const std::string directory = DirectoryOf(destination), name = NameOf(destination);
  std::vector<PartRecord> records;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string found = it->path().filename().string();
    const std::optional<PackPart> part = PartOfRecordName(found, name);
    if (part) records.push_back({*part, it->path().string()});
  }
  if (error) return ErrnoStatus(error.value(), directory + ": cannot be listed");
  std::ranges::sort(records, {}, [](const PartRecord& record) {
    return std::pair(record.part.of, record.part.number);
  });
  return records;
}

bool IsFinished(const Json& record) { return record.value("finished", Json()) == Json(true); }

}  // namespace stoker::internal
