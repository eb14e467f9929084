#include "stoker/run/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "stoker/base/json_file.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/io/temporary.h"
#include "stoker/run/published_progress.h"
#include "stoker/run/run_environment.h"
#include "stoker/run/run_lock_internal.h"

namespace stoker {
namespace fs = std::filesystem;
namespace {

std::tm LocalTime(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

// Whether it holds nothing but what a process leaves that was killed before it had written the
// recipe.
Result<bool> IsUnused(const fs::path& root) {
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != "lock") return false;
  }
  if (error == std::errc::not_a_directory) return false;
  if (error) return ErrnoStatus(error.value(), root.string());
  return true;
}

// Also one that is being written.
bool IsWrittenBeforeTheFirstStep(const fs::path& file) {
  const RunPaths paths{file.parent_path()};
  const std::string name = file.filename().string();
  if (name.starts_with("events.out.tfevents.")) return true;
  const std::string_view becomes = internal::FinalNameIn(name);
  for (const fs::path written : {paths.recipe(), paths.learned(), paths.choices(), paths.data(),
                                 paths.tuning(), paths.metrics(), paths.log(), paths.lock(),
                                 ProgressPath(paths.root), EnvironmentPath(paths.root)}) {
    const std::string known = written.filename().string();
    if (name == known || becomes == known) return true;
  }
  return false;
}

bool HoldsOnlyWhatIsWrittenBeforeTheFirstStep(const fs::path& root) {
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    if (!IsWrittenBeforeTheFirstStep(it->path())) return false;
  }
  return !error;
}

// The recipe and the lock last: a process that is killed meanwhile leaves a run that can be resumed
// or a directory that counts as empty.
void RemoveFilesOf(const RunPaths& paths) {
  std::error_code error;
  for (fs::directory_iterator it(paths.root, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    if (path == paths.recipe() || path == paths.lock()) continue;
    std::error_code ignored;
    if (IsWrittenBeforeTheFirstStep(it->path())) fs::remove(it->path(), ignored);
  }
  ::unlink(paths.recipe().c_str());
  ::unlink(paths.lock().c_str());
}

// That something of a killed process stays is no reason to stop.
void RemoveLeftovers(const std::string& directory) {
  if (std::error_code ignored; !fs::is_directory(directory, ignored)) return;
  if (const Status removed = RemoveStaleTemporaries(directory).status(); !removed.ok()) {
    LogWarning("what a killed process left half-written stays: {}", removed.message());
  }
}

bool HoldsNoCheckpoint(const fs::path& root) {
  std::error_code error;
  const fs::directory_iterator checkpoints(RunPaths{root}.checkpoints(), error);
  if (error) return error == std::errc::no_such_file_or_directory;
  return checkpoints == fs::directory_iterator();
}

// Of the callback `export` (train/callbacks/export.h).
bool IsExport(const fs::path& root) {
  std::error_code ignored;
  return fs::exists(RunPaths{root}.evaluation(), ignored);
}

Status NothingToResume(const fs::path& root) {
  return FailedPrecondition(
      "{}: is an export, a model for use without a position to go on from; resume the run that "
      "made it, or begin a new run with its weights (--set train.init_from.weights={})",
      root.string(), root.string());
}

Status ExistsAlready(const fs::path& root) {
  if (RunIsHeld(root)) return internal::RunIsHeldByAnother(root);
  if (IsExport(root))
    return FailedPrecondition("{}: exists already, and is an export; name another directory",
                              root.string());
  if (std::error_code error; !fs::exists(RunPaths{root}.recipe(), error)) {
    return FailedPrecondition(
        "{}: exists already and is no run; name a directory that is empty or not there yet",
        root.string());
  }
  if (HoldsNoCheckpoint(root)) {
    return FailedPrecondition(
        "{}: exists already, and is a run that has stored no checkpoint; begin it again at step 0 "
        "(--resume, and --allow-changes where its recipe or data were corrected), remove it, or "
        "name another directory",
        root.string());
  }
  return FailedPrecondition(
      "{}: exists already; resume that run (--resume), or name another directory", root.string());
}

Status MakeDirectory(RunPlace& place) {
  const fs::path& root = place.root;
  std::error_code error;
  if (fs::is_directory(root, error)) {
    STOKER_RETURN_IF_ERROR(RemoveStaleTemporaries(root.string()).status());
  }
  if (fs::exists(root, error)) {
    STOKER_ASSIGN_OR_RETURN(const bool is_unused, IsUnused(root));
    if (!is_unused) return ExistsAlready(root);
  }
  return place.made.Create(root.string()).While("making the run directory");
}

// Locks the directory of a new run, which it makes.
Result<Descriptor> Claim(RunPlace& place) {
  STOKER_RETURN_IF_ERROR(MakeDirectory(place));
  const RunPaths paths{place.root};
  STOKER_ASSIGN_OR_RETURN(Descriptor lock, internal::TakeRunLock(paths));
  // Another process may have had the lock until now.
  const Result<bool> is_unused = IsUnused(place.root);
  if (is_unused.ok() && *is_unused) return lock;
  if (is_unused.ok()) {
    lock = Descriptor();  // or ExistsAlready would take this process for another
    return ExistsAlready(place.root);
  }
  if (place.made.MadeLast(place.root.string())) ::unlink(paths.lock().c_str());
  return is_unused.status();
}

Status RemoveIfThere(const std::string& path) {
  const Status removed = RemoveAtomically(path);
  return removed.code() == StatusCode::kNotFound ? OkStatus() : removed;
}

// A JSON file of ours, or nothing if it does not exist.
Result<std::optional<Json>> ReadJsonFile(const std::string& path) {
  const Result<std::string> text = ReadKeptTextFile(path);
  if (!text.ok() && text.status().code() == StatusCode::kNotFound) return std::nullopt;
  if (!text.ok()) return text.status();
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return DataLoss("{}: is no valid JSON; delete it or start anew", path);
  return std::optional<Json>(std::move(json));
}

Status WriteJsonFile(const std::string& path, const Json& json) {
  return WriteFileAtomically(path, JsonFileText(json));
}

}  // namespace

fs::path NewRunPath(const fs::path& parent, std::string_view recipe_name,
                    std::chrono::system_clock::time_point now) {
  const std::string name = fmt::format("{}-{:%Y%m%d-%H%M%S}", recipe_name, LocalTime(now));
  fs::path path = parent / name;
  std::error_code ignored;
  for (int n = 2; fs::exists(path, ignored); ++n) path = parent / fmt::format("{}-{}", name, n);
  return path;
}

bool RunIsHeld(const fs::path& root) { return internal::RunIsLocked(RunPaths{root}); }

Result<ConfigNode> ReadRunRecipe(const fs::path& root) {
  const std::string path = RunPaths{root}.recipe();
  const Result<std::string> text = ReadKeptTextFile(path);
  if (!text.ok() && text.status().code() == StatusCode::kNotFound) {
    return NotFound(
        "{}: is no run directory (it has no recipe.yaml); name the one that `stoker train` "
        "printed",
        root.string());
  }
  if (!text.ok()) return text.status();
  return ParseYaml(*text, path);
}

void UseLearnedOf(const fs::path& root, ConfigNode& recipe) {
  ConfigNode* const data = recipe.Find("data");
  const std::string file = RunPaths{root}.learned();
  std::error_code ignored;
  if (data == nullptr || data->kind != ConfigNode::Kind::kMap || !fs::exists(file, ignored)) return;
  const ConfigNode* const named = data->Find("learned");
  if (named != nullptr && !named->scalar.empty()) return;
  data->Erase("learned");
  // Without a place in a file: relative to the working directory, as the run is.
  data->entries.push_back({"learned", {}, ConfigNode::Scalar(file)});
}

Result<std::shared_ptr<const Learned>> ReadRunLearned(const fs::path& root) {
  Result<std::shared_ptr<const Learned>> learned = ReadLearned(RunPaths{root}.learned());
  if (!learned.ok() && learned.status().code() == StatusCode::kNotFound)
    return std::shared_ptr<const Learned>();
  return learned;
}

Result<std::optional<Choices>> ReadRunChoices(const fs::path& root) {
  const std::string path = RunPaths{root}.choices();
  STOKER_ASSIGN_OR_RETURN(const std::optional<Json> json, ReadJsonFile(path));
  if (!json) return std::nullopt;
  Result<Choices> choices = Choices::FromJson(*json);
  if (!choices.ok()) return choices.status().While("reading " + path);
  return std::optional<Choices>(*choices);
}

Result<std::optional<Json>> ReadRunData(const fs::path& root) {
  const std::string path = RunPaths{root}.data();
  STOKER_ASSIGN_OR_RETURN(std::optional<Json> json, ReadJsonFile(path));
  if (json && !(json->is_object() && json->contains("train"))) {
    return DataLoss(
        "{}: does not hold the marks of the data files; put it back, or delete it: then it is not "
        "checked whether the data are those that the run was made with",
        path);
  }
  return json;
}

namespace {

// For looking at it alone; nothing where it cannot be opened.
Descriptor OpenDirectory(const fs::path& root) {
  return OpenUninterrupted(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

HeldRun::HeldRun(const RunPaths& paths, Descriptor lock)
    : is_new_(false),
      paths_(paths),
      lock_(std::move(lock)),
      directory_(OpenDirectory(paths.root)) {}

HeldRun::HeldRun(MadeDirectories made, const RunPaths& paths, Descriptor lock)
    : is_new_(true),
      made_(std::move(made)),
      paths_(paths),
      lock_(std::move(lock)),
      directory_(OpenDirectory(paths.root)) {}

void HeldRun::Discard() {
  const MutexLock guard(mutex_);
  // What cannot be looked at stays.
  const auto is_ours = [this] {
    const Result<bool> is_lock = internal::IsLockOfRun(paths_, lock_);
    return is_lock.ok() && *is_lock;
  };
  if (!is_new_ || !is_ours() || !HoldsOnlyWhatIsWrittenBeforeTheFirstStep(paths_.root)) return;
  // A directory of this process loses its name at once, so nothing can be written into it
  // meanwhile.
  if (made_.MadeLast(paths_.root.string())) {
    if (const Status removed = RemoveAtomically(made_.last()); !removed.ok()) {
      LogWarning("what was begun of the run stays: {}", removed.message());
    }
  }
  if (is_ours()) RemoveFilesOf(paths_);
  made_.RemoveEmpty();
}

Status HeldRun::CheckPlace() const {
  if (!directory_.valid()) return OkStatus();  // as that of RunDirectory::Nowhere
  STOKER_ASSIGN_OR_RETURN(const bool is_there,
                          internal::IsStill(paths_.root.string(), directory_.get(), /*flags=*/0));
  if (is_there) return OkStatus();
  return FailedPrecondition(
      "{}: is not the directory of this run any more, which was renamed or removed while the run "
      "trained; no checkpoint and no weights are written there. Give it its name back, and resume "
      "it from the newest checkpoint in it",
      paths_.root.string());
}

Result<RunDirectory> RunDirectory::Create(RunPlace place, const ConfigNode& recipe) {
  Result<Descriptor> lock = Claim(place);
  if (!lock.ok()) {
    place.made.RemoveEmpty();
    return lock.status();
  }
  RunPaths paths{place.root};
  auto held = std::make_shared<HeldRun>(std::move(place.made), paths, *std::move(lock));
  RunDirectory run(std::move(paths), std::move(held));
  if (Status written = run.WriteRecipe(recipe); !written.ok()) {
    run.held()->Discard();
    return written;
  }
  return run;
}

Result<RunDirectory> RunDirectory::Open(const fs::path& root) {
  STOKER_RETURN_IF_ERROR(ReadRunRecipe(root).status());
  if (IsExport(root)) return NothingToResume(root);
  RunPaths paths{root};
  STOKER_ASSIGN_OR_RETURN(Descriptor lock, internal::TakeRunLock(paths));
  RemoveLeftovers(root.string());
  // Here too: a disk that is nearly full would have no room for the next checkpoint.
  RemoveLeftovers(paths.checkpoints());
  auto held = std::make_shared<HeldRun>(paths, std::move(lock));
  return RunDirectory(std::move(paths), std::move(held));
}

RunDirectory RunDirectory::Nowhere() {
  return {RunPaths{}, std::make_shared<HeldRun>(RunPaths{}, Descriptor())};
}

Status RunDirectory::WriteRecipe(const ConfigNode& recipe) {
  if (nowhere()) return OkStatus();
  return WriteFileAtomically(paths_.recipe(), WithoutSecrets(ToYaml(recipe)));
}

Status RunDirectory::WriteLearned(const Learned& learned) {
  return nowhere() ? OkStatus() : WriteJsonFile(paths_.learned(), learned.ToJson());
}

Status RunDirectory::WriteChoices(const Choices& choices) {
  if (nowhere()) return OkStatus();
  return WriteJsonFile(paths_.choices(), choices.ToJson());
}

Status RunDirectory::RemoveChoices() {
  return nowhere() ? OkStatus() : RemoveIfThere(paths_.choices());
}

Status RunDirectory::WriteData(const Json& marks) {
  return nowhere() ? OkStatus() : WriteJsonFile(paths_.data(), marks);
}

Status RunDirectory::WriteTuning(const Json& report) {
  if (nowhere()) return OkStatus();
  return WriteJsonFile(paths_.tuning(), report);
}

Status RunDirectory::WriteSummary(const Json& summary) {
  if (nowhere()) return OkStatus();
  return WriteJsonFile(paths_.summary(), summary);
}

Status RunDirectory::WriteProfile(const Json& profile) {
  if (nowhere()) return OkStatus();
  STOKER_RETURN_IF_ERROR(held_->CheckPlace());
  return WriteJsonFile(paths_.profile(), profile);
}

Status RunDirectory::RemoveResults() {
  if (nowhere()) return OkStatus();
  STOKER_RETURN_IF_ERROR(RemoveIfThere(paths_.weights()));
  return RemoveIfThere(paths_.summary());
}

void RunDirectory::Log(std::string_view message) {
  if (nowhere() || !held_->CheckPlace().ok()) return;
  const Descriptor log = OpenUninterrupted(paths_.log().c_str(),
                                           O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC);
  const std::string line =
      fmt::format("{:%Y-%m-%d %H:%M:%S} {}\n", LocalTime(std::chrono::system_clock::now()),
                  Printable(WithoutSecrets(message)));
  [[maybe_unused]] const ssize_t written = ::write(log.get(), line.data(), line.size());
}

}  // namespace stoker
