#include "stoker/data/pack/pack_manifest.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/base/json_file.h"
#include "stoker/data/nodes/cache_store.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/shards.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 2;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

std::string DirectoryOf(const std::string& path) {
  const std::string directory = fs::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

std::string NameOf(const std::string& path) { return fs::path(path).filename().string(); }

// What the packing is, as it is compared and stored.
Json IdentityOf(const std::string& origin, const std::vector<std::string>& files) {
  Json names = Json::array();
  for (const std::string& file : files) names.push_back(NameOf(file));
  return AsStoredJson({{"stoker_pack", kVersion}, {"origin", origin}, {"files", names}});
}

Status CheckDirectory(const std::string& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return OkStatus();
  return NotFound("{}: there is no such directory; make it first (mkdir -p), or check the path",
                  directory);
}

// "--shards 30, before 20": the options of one packing that another has with other values.
std::string DifferenceOf(const Json& options, const Json& before) {
  std::string text;
  if (!before.is_object()) return text;
  for (const auto& [name, value] : options.items()) {
    const Json other = before.value(name, Json());
    if (!other.is_string() || other == value) continue;
    text += fmt::format("{}{} {}, before {}", text.empty() ? "" : "; ", name,
                        value.get<std::string>(), other.get<std::string>());
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

Json IdsToJson(const std::vector<std::optional<FileId>>& ids) {
  Json json = Json::array();
  for (const std::optional<FileId>& id : ids)
    json.push_back(id ? Json::array({id->first, id->second}) : Json());
  return json;
}

bool AreIds(const Json& json, size_t number) {
  return json.is_array() && json.size() == number && std::ranges::all_of(json, [](const Json& id) {
           return id.is_null() || (id.is_array() && id.size() == 2 && id[0].is_number_unsigned() &&
                                   id[1].is_number_unsigned());
         });
}

// A manifest of any packing; nothing if it is none.
std::optional<Json> ParseManifest(const std::string& text) {
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

}  // namespace

Result<uint64_t> BytesOnDisk(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return uint64_t{0};
  uint64_t bytes = 0;
  if (fs::is_regular_file(status)) bytes = fs::file_size(path, error);
  if (fs::is_directory(status)) {
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const bool counts = it->is_regular_file(error);
      const uint64_t size = counts && !error ? it->file_size(error) : 0;
      if (error) break;
      bytes += size;
    }
  }
  if (error) return ErrnoStatus(error.value(), path + ": cannot be looked at");
  return bytes;
}

PackManifest::PackManifest(std::string path, Request request)
    : path_(std::move(path)),
      files_(std::move(request.files)),
      identity_(IdentityOf(request.origin, files_)),
      options_(AsStoredJson(Json(request.options))),
      before_(files_.size()) {
  for (const std::string& file : files_) own_names_.insert(NameOf(file));
}

Result<PackManifest> PackManifest::Begin(Request request) {
  const std::string directory = DirectoryOf(request.destination);
  STOKER_RETURN_IF_ERROR(CheckDirectory(directory));
  STOKER_RETURN_IF_ERROR(RemoveStaleTemporaries(directory).status());
  const std::string path =
      (fs::path(directory) / fmt::format(".{}.stoker-pack", NameOf(request.destination))).string();
  const bool overwrite = request.overwrite;
  const std::vector<std::string> inputs = std::move(request.inputs);
  const std::string destination = request.destination;
  PackManifest manifest(path, std::move(request));
  bool goes_on = false;
  if (Exists(path)) {
    STOKER_ASSIGN_OR_RETURN(goes_on, manifest.TakeUp(overwrite));
  }
  if (goes_on && !overwrite) STOKER_RETURN_IF_ERROR(manifest.CheckOldAreGone());
  STOKER_RETURN_IF_ERROR(manifest.CheckOtherShards(destination, overwrite));
  STOKER_RETURN_IF_ERROR(CheckTargetsAreNotRead(manifest.files_, inputs));
  STOKER_RETURN_IF_ERROR(CheckTargetsAreNotRead(manifest.replaced_, inputs));
  STOKER_RETURN_IF_ERROR(manifest.CheckMayGo());
  if (goes_on) {
    STOKER_RETURN_IF_ERROR(manifest.ForgetWhatWentMeanwhile());
    return manifest;
  }
  if (!overwrite) STOKER_RETURN_IF_ERROR(manifest.CheckRoom());
  manifest.NoteFiles();
  STOKER_RETURN_IF_ERROR(manifest.Write());
  return manifest;
}

// Names the difference in the user's own options if there is one, else in the pipeline's
// description of itself: a changed recipe or file.
Status PackManifest::BelongsToAnother(const Json& stored) const {
  std::string difference = DifferenceOf(options_, stored.value("options", Json()));
  const auto before = stored["origin"].get<std::string>();
  const auto now = identity_["origin"].get<std::string>();
  if (difference.empty() && before != now) difference = internal::OriginDifference(before, now);
  if (difference.empty()) {
    difference =
        fmt::format("files {}, before {}", ListOf(identity_["files"]), ListOf(stored["files"]));
  }
  return FailedPrecondition(
      "{}: a packing of other data or with other options was interrupted here ({}); give those "
      "again to finish it, or --overwrite to remove what it made and begin anew",
      path_, difference);
}

Status PackManifest::CannotBeRead() const {
  return FailedPrecondition(
      "{}: this tells of an interrupted packing, but is damaged, or of another version; give "
      "--overwrite to begin anew",
      path_);
}

// Whether the packing that was interrupted is gone on with; if not, it is this one's to replace.
Result<bool> PackManifest::TakeUp(bool overwrite) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path_));
  const std::optional<Json> stored = ParseManifest(text);
  if (stored && stored->value("finished", Json()) == Json(true))
    return TakeUpFinished(*stored, overwrite);
  const Status status = stored ? Continue(*stored) : CannotBeRead();
  if (status.ok()) return true;
  if (status.code() != StatusCode::kFailedPrecondition) return status;
  const bool nothing_done = stored && (*stored)["done"].empty();
  if (!overwrite && !nothing_done) return status;
  done_.clear();
  // What the interrupted packing was allowed to replace, this one is not unless it is allowed too.
  if (!stored || !overwrite) return false;
  Replace((*stored)["replaces"]);
  Replace((*stored)["files"]);
  return false;
}

// Whether it is this packing and all of its files are there. Whatever else is there is as good as
// made by hand: it stays unless it is to be replaced.
Result<bool> PackManifest::TakeUpFinished(const Json& stored, bool overwrite) {
  const Status status = overwrite ? OkStatus() : Continue(stored);
  if (!overwrite && status.ok()) return true;
  if (!status.ok() && status.code() != StatusCode::kFailedPrecondition) return status;
  done_.clear();
  state_ = nullptr;
  replaced_.clear();
  replaced_names_.clear();
  if (overwrite) Replace(stored["files"]);
  return false;
}

void PackManifest::Replace(const Json& names) {
  for (const Json& json : names) {
    const auto name = json.get<std::string>();
    std::string file = (fs::path(path_).parent_path() / name).string();
    if (!own_names_.contains(name) && replaced_names_.insert(name).second)
      replaced_.push_back(std::move(file));
  }
}

// The shards of `destination` that belong to sets of other numbers.
Result<std::vector<std::string>> PackManifest::OtherShards(const std::string& destination) const {
  const std::string directory = DirectoryOf(path_), name = NameOf(destination);
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string found = it->path().filename().string();
    if (found != name && WithoutShardNumber(found) == name && !own_names_.contains(found))
      others.push_back(found);
  }
  if (error) return ErrnoStatus(error.value(), directory + ": cannot be listed");
  std::ranges::sort(others);
  return others;
}

// The position is only known after the last shard, so all are kept or none. kFailedPrecondition if
// this packing cannot be continued there; any other error only means that this could not be
// determined.
Status PackManifest::Continue(const Json& stored) {
  for (const auto& [key, value] : identity_.items()) {
    if (stored[key] != value) return BelongsToAnother(stored);
  }
  for (size_t i = 0; i < stored["done"].size(); ++i) {
    const Json& shard = stored["done"][i];
    done_.push_back({.elements = shard["elements"].get<int64_t>(),
                     .bytes = shard["bytes"].get<uint64_t>(),
                     .checksum = shard["checksum"].get<uint32_t>()});
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOnDisk(files_[i]));
    if (Exists(files_[i]) && bytes == done_.back().bytes) continue;
    return FailedPrecondition(
        "{}: the interrupted packing had finished it with {} bytes, {} are there; put it back, or "
        "give --overwrite to begin anew",
        files_[i], done_.back().bytes, bytes);
  }
  state_ = stored["state"];
  const Json before = stored.value("before", Json::array());  // earlier versions had none
  for (size_t i = 0; i < before.size(); ++i) {
    const Json& id = before[i];
    if (id.is_array()) before_[i] = FileId(id[0].get<dev_t>(), id[1].get<ino_t>());
  }
  Replace(stored["replaces"]);
  return OkStatus();
}

// What is whole already stays.
Status PackManifest::CheckMayGo() const {
  STOKER_RETURN_IF_ERROR(CheckTargetsMayGo({files_.begin() + std::ssize(done_), files_.end()}));
  return CheckTargetsMayGo(replaced_);
}

Status PackManifest::CheckRoom() const {
  const auto there = std::ranges::find_if(files_, Exists);
  if (there == files_.end()) return OkStatus();
  return FailedPrecondition("{}: is there already; give --overwrite to replace it, or another name",
                            *there);
}

// The interrupted packing was allowed to replace them. This one is not, even though it is the same.
Status PackManifest::CheckOldAreGone() const {
  auto old = std::ranges::find_if(replaced_, Exists);
  std::string there = old == replaced_.end() ? "" : *old;
  for (size_t i = done_.size(); i < files_.size() && there.empty(); ++i) {
    if (before_[i] && FileIdOf(files_[i]) == before_[i]) there = files_[i];
  }
  if (there.empty()) return OkStatus();
  return FailedPrecondition(
      "{}: was there before the packing that was interrupted here, which --overwrite allowed to "
      "replace it; give --overwrite again to finish that packing, or another name to keep this "
      "file",
      there);
}

// A pattern would read another set of shards together with this one, so it goes, or is refused.
Status PackManifest::CheckOtherShards(const std::string& destination, bool overwrite) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> others, OtherShards(destination));
  if (overwrite) Replace(Json(others));
  for (const std::string& name : others) {
    if (replaced_names_.contains(name)) continue;
    return FailedPrecondition(
        "{}: a shard of another set is there already, and a pattern would read both sets; give "
        "--overwrite to replace that set, or another name",
        (fs::path(path_).parent_path() / name).string());
  }
  return OkStatus();
}

void PackManifest::NoteFiles() { std::ranges::transform(files_, before_.begin(), FileIdOf); }

// The inode of a file that was removed by hand may become that of one that this packing makes.
Status PackManifest::ForgetWhatWentMeanwhile() {
  bool forgotten = false;
  for (size_t i = done_.size(); i < files_.size(); ++i) {
    if (!before_[i] || FileIdOf(files_[i]) == before_[i]) continue;
    before_[i].reset();
    forgotten = true;
  }
  return forgotten ? Write() : OkStatus();
}

bool PackManifest::HasMadeFiles() const {
  for (size_t i = 0; i < files_.size(); ++i) {
    const std::optional<FileId> now = FileIdOf(files_[i]);
    // Exists is true also where that cannot be found out.
    if (now ? now != before_[i] : Exists(files_[i])) return true;
  }
  return false;
}

Status PackManifest::EnsureThere() const { return Exists(path_) ? OkStatus() : Write(); }

Status PackManifest::Write() const {
  Json done = Json::array();
  for (const Shard& shard : done_) {
    done.push_back(
        {{"elements", shard.elements}, {"bytes", shard.bytes}, {"checksum", shard.checksum}});
  }
  Json json = identity_;
  json["options"] = options_;
  json["replaces"] = Json::array();
  for (const std::string& file : replaced_) json["replaces"].push_back(NameOf(file));
  json["before"] = IdsToJson(before_);
  json["done"] = std::move(done);
  json["state"] = state_;
  json["finished"] = finished_;
  return WriteFileAtomically(path_, DumpJson(json) + "\n");
}

Status PackManifest::Add(const Shard& shard, Json state) {
  done_.push_back(shard);
  state_ = std::move(state);
  return Write();
}

Status PackManifest::Finish() {
  STOKER_RETURN_IF_ERROR(CheckTargetsMayGo(replaced_));
  for (const std::string& file : replaced_) {
    if (Exists(file)) STOKER_RETURN_IF_ERROR(RemoveAtomically(file));
  }
  replaced_.clear();
  std::ranges::fill(before_, std::nullopt);
  state_ = nullptr;
  finished_ = true;
  return Write();
}

void PackManifest::Abandon() {
  std::error_code ignored;
  if (done_.empty() && replaced_.empty() && !HasMadeFiles()) fs::remove(path_, ignored);
  // Another process may have made a file just now, or have abandoned the packing before this one.
  const bool needed = !done_.empty() || !replaced_.empty() || HasMadeFiles();
  if (needed) static_cast<void>(EnsureThere());
}

}  // namespace stoker
