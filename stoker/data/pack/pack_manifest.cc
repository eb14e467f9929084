#include "stoker/data/pack/pack_manifest.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/base/json_file.h"
#include "stoker/data/pack/pack_record_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/shards.h"

namespace stoker {

namespace fs = std::filesystem;

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
      identity_(internal::PackIdentityOf(request.origin, files_, IdentityOf(request.part))),
      options_(AsStoredJson(Json(request.options))),
      part_(std::move(request.part)),
      before_(files_.size()) {
  for (const std::string& file : part_ ? part_->set : files_)
    own_names_.insert(internal::NameOf(file));
}

Json PackManifest::IdentityOf(const std::optional<Part>& part) {
  if (!part) return nullptr;
  return {{"number", part->part.number},
          {"of", part->part.of},
          {"set", part->shards},
          {"schema", part->schema}};
}

// Those of the whole directory; for a part, whose neighbours may be at work on other machines,
// those of its own files alone.
Status PackManifest::RemoveStale() const {
  const std::string directory = internal::DirectoryOf(path_);
  if (!part_) return RemoveStaleTemporaries(directory).status();
  std::vector<std::string> own = files_;
  own.push_back(path_);
  return internal::RemoveStaleOf(directory, own);
}

Result<PackManifest> PackManifest::Begin(Request request) {
  const std::string directory = internal::DirectoryOf(request.destination);
  STOKER_RETURN_IF_ERROR(internal::CheckDirectory(directory));
  const std::string whole = internal::RecordPathOf(request.destination);
  const std::string path =
      request.part ? (fs::path(directory) /
                      PartRecordName(internal::NameOf(request.destination), request.part->part))
                         .string()
                   : whole;
  const bool overwrite = request.overwrite;
  const std::vector<std::string> inputs = std::move(request.inputs);
  const std::string destination = request.destination, origin = request.origin;
  PackManifest manifest(path, std::move(request));
  STOKER_RETURN_IF_ERROR(manifest.RemoveStale());
  if (manifest.part_ && internal::Exists(whole)) {
    STOKER_RETURN_IF_ERROR(manifest.TakeUpWhole(whole, origin, overwrite));
    if (manifest.merged_) return manifest;
  }
  bool goes_on = false;
  if (internal::Exists(path)) {
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
  if (!manifest.part_) STOKER_RETURN_IF_ERROR(manifest.CheckParts(destination, overwrite));
  if (!overwrite) STOKER_RETURN_IF_ERROR(manifest.CheckRoom());
  manifest.NoteFiles();
  STOKER_RETURN_IF_ERROR(manifest.Write());
  return manifest;
}

// The set that the part belongs to is there already: merged, if it is the same. Then nothing is
// left to do, unless the part is to be made anew.
Status PackManifest::TakeUpWhole(const std::string& path, const std::string& origin,
                                 bool overwrite) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Json> stored, internal::ReadPackRecord(path));
  const Json identity = internal::PackIdentityOf(origin, part_->set, nullptr);
  const bool same = stored && internal::IsFinished(*stored) &&
                    (*stored)["origin"] == identity["origin"] &&
                    (*stored)["files"] == identity["files"];
  if (!same) {
    return FailedPrecondition(
        "{}: tells of another packing to this name, begun or made in one process{}; a part "
        "replaces no file but its own, so give another name, or remove that packing's files, this "
        "one too",
        path,
        stored ? fmt::format(" ({})", internal::PackDifference(identity, options_, *stored)) : "");
  }
  if (overwrite) return OkStatus();
  const auto first = std::ranges::find(part_->set, files_.front()) - part_->set.begin();
  const auto last = first + std::ssize(files_);
  if (std::ssize((*stored)["done"]) < last) return CannotBeRead();
  Json done = Json::array();
  for (auto i = first; i < last; ++i) done.push_back((*stored)["done"][i]);
  merged_ = true;
  return TakeUpFiles(done);
}

// Fills done_ with the files that `done` tells of, the first of files_, which must be there.
Status PackManifest::TakeUpFiles(const Json& done) {
  for (size_t i = 0; i < done.size(); ++i) {
    done_.push_back({.elements = done[i]["elements"].get<int64_t>(),
                     .bytes = done[i]["bytes"].get<uint64_t>(),
                     .checksum = done[i]["checksum"].get<uint32_t>()});
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOnDisk(files_[i]));
    if (internal::Exists(files_[i]) && bytes == done_.back().bytes) continue;
    return FailedPrecondition(
        "{}: the interrupted packing had finished it with {} bytes, {} are there; put it back, or "
        "give --overwrite to begin anew",
        files_[i], done_.back().bytes, bytes);
  }
  return OkStatus();
}

// Records of parts would tell of files that this packing makes anew.
Status PackManifest::CheckParts(const std::string& destination, bool overwrite) const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<internal::PartRecord> parts,
                          internal::PartRecordsOf(destination));
  for (const internal::PartRecord& part : parts) {
    if (overwrite) {
      STOKER_RETURN_IF_ERROR(RemoveAtomically(part.path));
      continue;
    }
    return FailedPrecondition(
        "{}: tells of part {} of a packing to this name; `stoker pack --merge` makes one set of "
        "the parts when all are there; give --overwrite to begin anew in one process",
        part.path, part.part.ToString());
  }
  return OkStatus();
}

// Names the difference in the user's own options if there is one, else in the pipeline's
// description of itself: a changed recipe or file.
Status PackManifest::BelongsToAnother(const Json& stored) const {
  return FailedPrecondition(
      "{}: a packing of other data or with other options was interrupted here ({}); give those "
      "again to finish it, or --overwrite to remove what it made and begin anew",
      path_, internal::PackDifference(identity_, options_, stored));
}

Status PackManifest::CannotBeRead() const {
  return FailedPrecondition(
      "{}: this tells of an interrupted packing, but is damaged, or of another version; give "
      "--overwrite to begin anew",
      path_);
}

// Whether the packing that was interrupted is gone on with; if not, it is this one's to replace.
Result<bool> PackManifest::TakeUp(bool overwrite) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Json> stored, internal::ReadPackRecord(path_));
  if (stored && internal::IsFinished(*stored)) return TakeUpFinished(*stored, overwrite);
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
  const std::string directory = internal::DirectoryOf(path_), name = internal::NameOf(destination);
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
    if (stored.value(key, Json()) != value) return BelongsToAnother(stored);
  }
  STOKER_RETURN_IF_ERROR(TakeUpFiles(stored["done"]));
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
  const auto there = std::ranges::find_if(files_, internal::Exists);
  if (there == files_.end()) return OkStatus();
  return FailedPrecondition("{}: is there already; give --overwrite to replace it, or another name",
                            *there);
}

// The interrupted packing was allowed to replace them. This one is not, even though it is the same.
Status PackManifest::CheckOldAreGone() const {
  auto old = std::ranges::find_if(replaced_, internal::Exists);
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
  // Another part may be making such a set at the moment.
  if (overwrite && !part_) Replace(Json(others));
  for (const std::string& name : others) {
    if (replaced_names_.contains(name)) continue;
    return FailedPrecondition(
        "{}: a shard of another set is there already, and a pattern would read both sets; {}, or "
        "give another name",
        (fs::path(path_).parent_path() / name).string(),
        part_ ? "remove that set" : "give --overwrite to replace that set");
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
    if (now ? now != before_[i] : internal::Exists(files_[i])) return true;
  }
  return false;
}

Status PackManifest::EnsureThere() const { return internal::Exists(path_) ? OkStatus() : Write(); }

Status PackManifest::Write() const {
  Json done = Json::array();
  for (const Shard& shard : done_) {
    done.push_back(
        {{"elements", shard.elements}, {"bytes", shard.bytes}, {"checksum", shard.checksum}});
  }
  Json json = identity_;
  json["options"] = options_;
  json["replaces"] = Json::array();
  for (const std::string& file : replaced_) json["replaces"].push_back(internal::NameOf(file));
  json["before"] = internal::FileIdsToJson(before_);
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
  if (merged_) return OkStatus();
  STOKER_RETURN_IF_ERROR(CheckTargetsMayGo(replaced_));
  for (const std::string& file : replaced_) {
    if (internal::Exists(file)) STOKER_RETURN_IF_ERROR(RemoveAtomically(file));
  }
  replaced_.clear();
  std::ranges::fill(before_, std::nullopt);
  state_ = nullptr;
  finished_ = true;
  return Write();
}

void PackManifest::Abandon() {
  if (merged_) return;  // the set has its own record
  std::error_code ignored;
  if (done_.empty() && replaced_.empty() && !HasMadeFiles()) fs::remove(path_, ignored);
  // Another process may have made a file just now, or have abandoned the packing before this one.
  const bool needed = !done_.empty() || !replaced_.empty() || HasMadeFiles();
  if (needed) static_cast<void>(EnsureThere());
}

}  // namespace stoker
