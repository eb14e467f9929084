#include "stoker/data/pack/pack_manifest.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

std::string DirectoryOf(const std::string& path) {
  const std::string directory = fs::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

std::string NameOf(const std::string& path) { return fs::path(path).filename().string(); }

// JSON is UTF-8, which paths need not be.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What the packing is, as it is compared and stored.
Json IdentityOf(const std::string& origin, const std::vector<std::string>& files) {
  Json names = Json::array();
  for (const std::string& file : files) names.push_back(NameOf(file));
  return Json::parse(Dump({{"stoker_pack", kVersion}, {"origin", origin}, {"files", names}}));
}

// A manifest of whatever packing; nothing where it is none.
std::optional<Json> ParseManifest(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool right =
      json.is_object() && json.value("stoker_pack", Json()) == Json(kVersion) &&
      json.contains("origin") && json["origin"].is_string() && json.contains("files") &&
      json["files"].is_array() && json.contains("done") && json["done"].is_array() &&
      json["done"].size() <= json["files"].size() && json.contains("state") &&
      std::ranges::all_of(json["files"], [](const Json& name) { return name.is_string(); }) &&
      std::ranges::all_of(json["done"], [](const Json& shard) {
        return shard.is_object() && shard.value("elements", Json()).is_number_integer() &&
               shard.value("bytes", Json()).is_number_unsigned();
      });
  return right ? std::optional(std::move(json)) : std::nullopt;
}

Status RemoveIfThere(const std::string& path) {
  return Exists(path) ? RemoveAtomically(path) : OkStatus();
}

// The files that an interrupted packing has finished, or had begun to.
Status RemoveFilesOf(const Json& stored, const std::string& directory) {
  for (const Json& name : stored["files"]) {
    // A name, whatever the file says: nothing elsewhere is touched.
    const fs::path file = fs::path(directory) / fs::path(name.get<std::string>()).filename();
    STOKER_RETURN_IF_ERROR(RemoveIfThere(file.string()));
  }
  return OkStatus();
}

}  // namespace

uint64_t BytesOnDisk(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  uint64_t bytes = 0;
  for (auto entry = fs::directory_iterator(path, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto size = entry->file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

PackManifest::PackManifest(std::string path, std::vector<std::string> files,
                           const std::string& origin)
    : path_(std::move(path)), files_(std::move(files)), identity_(IdentityOf(origin, files_)) {}

Result<PackManifest> PackManifest::Begin(const std::string& destination,
                                         std::vector<std::string> files, const std::string& origin,
                                         bool overwrite) {
  const std::string directory = DirectoryOf(destination);
  STOKER_RETURN_IF_ERROR(CreateDirectories(directory));
  STOKER_RETURN_IF_ERROR(RemoveStaleTemporaries(directory).status());
  const std::string path =
      (fs::path(directory) / fmt::format(".{}.stoker-pack", NameOf(destination))).string();
  PackManifest manifest(path, std::move(files), origin);
  if (!Exists(path)) {
    STOKER_RETURN_IF_ERROR(manifest.MakeRoom(overwrite));
    STOKER_RETURN_IF_ERROR(manifest.Write());
    return manifest;
  }
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  const std::optional<Json> stored = ParseManifest(text);
  const Status taken_up = stored ? manifest.TakeUp(*stored) : manifest.BelongsToAnother();
  if (taken_up.ok() || !overwrite) return taken_up.ok() ? Result(std::move(manifest)) : taken_up;
  if (stored) STOKER_RETURN_IF_ERROR(RemoveFilesOf(*stored, directory));
  STOKER_RETURN_IF_ERROR(manifest.MakeRoom(true));
  manifest.done_.clear();
  STOKER_RETURN_IF_ERROR(manifest.Write());
  return manifest;
}

Status PackManifest::BelongsToAnother() const {
  return FailedPrecondition(
      "{}: a packing of other data or with other options was interrupted here; give those again to "
      "finish it, or --overwrite to remove what it made and begin anew",
      path_);
}

// The position is only known behind the last shard, so all are kept or none.
Status PackManifest::TakeUp(const Json& stored) {
  for (const auto& [key, value] : identity_.items()) {
    if (stored[key] != value) return BelongsToAnother();
  }
  for (size_t i = 0; i < stored["done"].size(); ++i) {
    const Json& shard = stored["done"][i];
    done_.push_back({shard["elements"].get<int64_t>(), shard["bytes"].get<uint64_t>()});
    if (Exists(files_[i]) && BytesOnDisk(files_[i]) == done_.back().bytes) continue;
    return FailedPrecondition(
        "{}: the interrupted packing had finished it with {} bytes, {} are there; put it back, or "
        "give --overwrite to begin anew",
        files_[i], done_.back().bytes, BytesOnDisk(files_[i]));
  }
  state_ = stored["state"];
  return OkStatus();
}

Status PackManifest::MakeRoom(bool overwrite) {
  for (const std::string& file : files_) {
    if (!Exists(file)) continue;
    if (!overwrite) {
      return FailedPrecondition(
          "{}: is there already; give --overwrite to replace it, or another "
          "name",
          file);
    }
    std::error_code error;
    if (files_.size() == 1 && fs::is_regular_file(file, error)) continue;
    STOKER_RETURN_IF_ERROR(RemoveAtomically(file));
  }
  return OkStatus();
}

Status PackManifest::Write() const {
  Json done = Json::array();
  for (const Shard& shard : done_)
    done.push_back({{"elements", shard.elements}, {"bytes", shard.bytes}});
  Json json = identity_;
  json["done"] = std::move(done);
  json["state"] = state_;
  return WriteFileAtomically(path_, Dump(json) + "\n");
}

Status PackManifest::Add(const Shard& shard, Json state) {
  done_.push_back(shard);
  state_ = std::move(state);
  return Write();
}

Status PackManifest::Finish() { return RemoveAtomically(path_); }

void PackManifest::Abandon() {
  std::error_code ignored;
  if (done_.empty()) fs::remove(path_, ignored);
}

}  // namespace stoker
