#include "stoker/machine/roofs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "stoker/base/json_file.h"
#include "stoker/base/json_or_null.h"
#include "stoker/base/short_text.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

constexpr int kSchema = 1;
constexpr size_t kMostPaths = 32;

Json StorageJson(const StorageRoofs& storage) {
  return {{"path", storage.path},
          {"type", storage.type},
          {"how", storage.how},
          {"read_bytes_per_s", OrNull(storage.read_bytes_per_s)},
          {"write_bytes_per_s", OrNull(storage.write_bytes_per_s)},
          {"random_reads_per_s", OrNull(storage.random_reads_per_s)},
          {"random_bytes_per_s", OrNull(storage.random_bytes_per_s)},
          {"small_files_per_s", OrNull(storage.small_files_per_s)},
          {"small_files_together_per_s", OrNull(storage.small_files_together_per_s)},
          {"problem", storage.problem.empty() ? Json() : Json(storage.problem)}};
}

Json MemoryJson(const std::optional<MemoryRoofs>& memory) {
  if (!memory) return nullptr;
  return {{"read_bytes_per_s", memory->read_bytes_per_s},
          {"write_bytes_per_s", memory->write_bytes_per_s},
          {"copy_bytes_per_s", memory->copy_bytes_per_s}};
}

Json DecodeJson(const std::optional<DecodeRoofs>& decode) {
  if (!decode) return nullptr;
  return {{"pictures_per_s", decode->pictures_per_s}};
}

// Members of an object that need not be there, each of a type that must be right.
class Members {
 public:
  Members(const Json& json, std::string_view what) : json_(json), what_(what) {}

  Result<std::string> Text(const char* key) const {
    const Json value = json_.value(key, Json());
    if (value.is_null()) return std::string();
    if (!value.is_string()) return Wrong(key, "text");
    return value.get<std::string>();
  }
  Result<std::optional<double>> Number(const char* key) const {
    const Json value = json_.value(key, Json());
    if (value.is_null()) return std::optional<double>();
    if (!value.is_number() || !(value.get<double>() >= 0)) return Wrong(key, "a number from 0 on");
    return std::optional<double>(value.get<double>());
  }
  Result<double> NeededNumber(const char* key) const {
    STOKER_ASSIGN_OR_RETURN(const std::optional<double> number, Number(key));
    if (!number) return Wrong(key, "a number");
    return *number;
  }
  Result<Json> Object(const char* key) const {
    Json value = json_.value(key, Json());
    if (!value.is_null() && !value.is_object()) return Wrong(key, "an object");
    return value;
  }
  Result<Json> List(const char* key) const {
    Json value = json_.value(key, Json::array());
    const bool objects = value.is_array() && std::ranges::all_of(value, [](const Json& each) {
                           return each.is_object();
                         });
    if (!objects) return Wrong(key, "a list of objects");
    return value;
  }

 private:
  Status Wrong(const char* key, std::string_view wanted) const {
    return DataLoss("\"{}\" of {} is {}, not {}", key, what_, json_.value(key, Json()).type_name(),
                    wanted);
  }

  const Json& json_;
  std::string_view what_;
};

Result<StorageRoofs> ParseStorage(const Json& json) {
  const Members members(json, "storage");
  StorageRoofs storage;
  STOKER_ASSIGN_OR_RETURN(storage.path, members.Text("path"));
  STOKER_ASSIGN_OR_RETURN(storage.type, members.Text("type"));
  STOKER_ASSIGN_OR_RETURN(storage.how, members.Text("how"));
  STOKER_ASSIGN_OR_RETURN(storage.problem, members.Text("problem"));
  STOKER_ASSIGN_OR_RETURN(storage.read_bytes_per_s, members.Number("read_bytes_per_s"));
  STOKER_ASSIGN_OR_RETURN(storage.write_bytes_per_s, members.Number("write_bytes_per_s"));
  STOKER_ASSIGN_OR_RETURN(storage.random_reads_per_s, members.Number("random_reads_per_s"));
  STOKER_ASSIGN_OR_RETURN(storage.random_bytes_per_s, members.Number("random_bytes_per_s"));
  STOKER_ASSIGN_OR_RETURN(storage.small_files_per_s, members.Number("small_files_per_s"));
  STOKER_ASSIGN_OR_RETURN(storage.small_files_together_per_s,
                          members.Number("small_files_together_per_s"));
  return storage;
}

Result<std::optional<MemoryRoofs>> ParseMemory(const Json& json) {
  if (json.is_null()) return std::optional<MemoryRoofs>();
  const Members members(json, "memory");
  MemoryRoofs memory;
  STOKER_ASSIGN_OR_RETURN(memory.read_bytes_per_s, members.NeededNumber("read_bytes_per_s"));
  STOKER_ASSIGN_OR_RETURN(memory.write_bytes_per_s, members.NeededNumber("write_bytes_per_s"));
  STOKER_ASSIGN_OR_RETURN(memory.copy_bytes_per_s, members.NeededNumber("copy_bytes_per_s"));
  return std::optional<MemoryRoofs>(memory);
}

Result<std::optional<DecodeRoofs>> ParseDecode(const Json& json) {
  if (json.is_null()) return std::optional<DecodeRoofs>();
  DecodeRoofs decode;
  STOKER_ASSIGN_OR_RETURN(decode.pictures_per_s,
                          Members(json, "decode").NeededNumber("pictures_per_s"));
  return std::optional<DecodeRoofs>(decode);
}

Result<CopyRoofs> ParseCopies(const Json& json) {
  const Members members(json, "copies");
  CopyRoofs copies;
  STOKER_ASSIGN_OR_RETURN(copies.device, members.Text("device"));
  STOKER_ASSIGN_OR_RETURN(copies.pinned_bytes_per_s, members.NeededNumber("pinned_bytes_per_s"));
  STOKER_ASSIGN_OR_RETURN(copies.pageable_bytes_per_s,
                          members.NeededNumber("pageable_bytes_per_s"));
  return copies;
}

}  // namespace

Json AllReduceRoofs::ToJson() const {
  return {{"processes", processes}, {"small_s", small_s}, {"bytes_per_s", bytes_per_s}};
}

Result<AllReduceRoofs> AllReduceRoofs::FromJson(const Json& json) {
  if (!json.is_object()) return DataLoss("is no JSON object");
  const Members members(json, "all_reduce");
  AllReduceRoofs roofs;
  STOKER_ASSIGN_OR_RETURN(const double processes, members.NeededNumber("processes"));
  roofs.processes = static_cast<int>(std::min(processes, 1e6));
  STOKER_ASSIGN_OR_RETURN(roofs.small_s, members.NeededNumber("small_s"));
  STOKER_ASSIGN_OR_RETURN(roofs.bytes_per_s, members.NeededNumber("bytes_per_s"));
  return roofs;
}

Json Roofs::ToJson() const {
  Json json = {{"schema", kSchema},
               {"host", host},
               {"cpus", cpus},
               {"measured_at", measured_at},
               {"storage", Json::array()},
               {"memory", MemoryJson(memory)},
               {"memory_together", MemoryJson(memory_together)},
               {"decode", DecodeJson(decode)},
               {"decode_together", DecodeJson(decode_together)},
               {"copies", Json::array()},
               {"all_reduce", all_reduce ? all_reduce->ToJson() : Json()}};
  for (const StorageRoofs& each : storage) json["storage"].push_back(StorageJson(each));
  for (const CopyRoofs& each : copies) {
    json["copies"].push_back({{"device", each.device},
                              {"pinned_bytes_per_s", each.pinned_bytes_per_s},
                              {"pageable_bytes_per_s", each.pageable_bytes_per_s}});
  }
  return json;
}

Result<Roofs> Roofs::FromJson(const Json& json) {
  if (!json.is_object()) return DataLoss("is no JSON object");
  if (const Json schema = json.value("schema", Json()); schema != Json(kSchema)) {
    return Unimplemented("has schema {}, and this version reads {}", ShortText(DumpJson(schema)),
                         kSchema);
  }
  const Members members(json, "the roofs");
  Roofs roofs;
  STOKER_ASSIGN_OR_RETURN(roofs.host, members.Text("host"));
  STOKER_ASSIGN_OR_RETURN(roofs.measured_at, members.Text("measured_at"));
  STOKER_ASSIGN_OR_RETURN(const double cpus, members.NeededNumber("cpus"));
  roofs.cpus = static_cast<int>(std::min(cpus, 1e6));
  STOKER_ASSIGN_OR_RETURN(const Json storage, members.List("storage"));
  for (const Json& each : storage) {
    STOKER_ASSIGN_OR_RETURN(roofs.storage.emplace_back(), ParseStorage(each));
  }
  STOKER_ASSIGN_OR_RETURN(const Json memory, members.Object("memory"));
  STOKER_ASSIGN_OR_RETURN(roofs.memory, ParseMemory(memory));
  STOKER_ASSIGN_OR_RETURN(const Json memory_together, members.Object("memory_together"));
  STOKER_ASSIGN_OR_RETURN(roofs.memory_together, ParseMemory(memory_together));
  STOKER_ASSIGN_OR_RETURN(const Json decode, members.Object("decode"));
  STOKER_ASSIGN_OR_RETURN(roofs.decode, ParseDecode(decode));
  STOKER_ASSIGN_OR_RETURN(const Json decode_together, members.Object("decode_together"));
  STOKER_ASSIGN_OR_RETURN(roofs.decode_together, ParseDecode(decode_together));
  STOKER_ASSIGN_OR_RETURN(const Json copies, members.List("copies"));
  for (const Json& each : copies) {
    STOKER_ASSIGN_OR_RETURN(roofs.copies.emplace_back(), ParseCopies(each));
  }
  STOKER_ASSIGN_OR_RETURN(const Json all_reduce, members.Object("all_reduce"));
  if (!all_reduce.is_null()) {
    STOKER_ASSIGN_OR_RETURN(roofs.all_reduce, AllReduceRoofs::FromJson(all_reduce));
  }
  return roofs;
}

Result<Roofs> ParseRoofs(std::string_view text) {
  // Values are copied and compared level by level, for which the stack of a thread must suffice.
  constexpr int kMostLevels = 32;
  bool too_deep = false;
  const auto is_kept = [&too_deep](int depth, Json::parse_event_t, const Json&) {
    too_deep = too_deep || depth > kMostLevels;
    return depth <= kMostLevels;
  };
  const Json json = Json::parse(text, is_kept, /*allow_exceptions=*/false);
  if (too_deep) return DataLoss("has more than {} levels of lists and objects", kMostLevels);
  return Roofs::FromJson(json);
}

Result<std::string> DefaultRoofsPath() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = variable("XDG_CACHE_HOME");
  if (folder.empty()) {
    folder = variable("HOME");
    if (folder.empty()) {
      return FailedPrecondition(
          "neither XDG_CACHE_HOME nor HOME is set; name a file for the figures with --to");
    }
    folder += "/.cache";
  }
  return folder + "/stoker/machine.json";
}

Result<Roofs> LoadRoofs(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, uint64_t{1} << 20));
  Result<Roofs> roofs = ParseRoofs(text);
  if (roofs.ok()) return roofs;
  const std::string message = fmt::format("{}: {}; delete it, and `stoker env` makes it again",
                                          path, roofs.status().message());
  return roofs.status().code() == StatusCode::kUnimplemented ? Unimplemented("{}", message)
                                                             : DataLoss("{}", message);
}

Status SaveRoofs(Roofs roofs, const std::string& path) {
  if (const Result<Roofs> before = LoadRoofs(path); before.ok() && before->host == roofs.host) {
    for (const StorageRoofs& other : before->storage) {
      const bool again =
          std::ranges::find(roofs.storage, other.path, &StorageRoofs::path) != roofs.storage.end();
      if (!again && roofs.storage.size() < kMostPaths) roofs.storage.push_back(other);
    }
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) STOKER_RETURN_IF_ERROR(CreateDirectories(folder));
  return WriteFileAtomically(path, JsonFileText(roofs.ToJson()));
}

}  // namespace stoker
