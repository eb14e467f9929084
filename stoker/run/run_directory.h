// RunDirectory: holds everything that a training run writes.
// clang-format off
//
//   recipe.yaml             the recipe as resolved, every key filled in
//   learned.json            what stages have learned from the training data, if any do (data/learn/learned.h)
//   choices.json            the tuner's choices
//   allowed.json            changes that a resumed run was allowed (allowed_changes.h)
//   data.json               marks of its data files when it last began (recipe_changes.h)
//   tuning.json             the tuner's trials, with times and reasons (tune_report.h)
//   metrics.jsonl           one JSON object a line (metrics_file.h)
//   events.out.tfevents.*   the same for TensorBoard, if asked for (tensorboard_log.h)
//   tensors.jsonl           of the callback log_tensors
//   trace-A-B.json          of the callback profile_steps
//   exports/latest/         models for use, one directory each, of the callback export; exports/best/ likewise
//   log                     events, with times
//   progress.json           how far it is and what it does, about once a second (published_progress.h)
//   checkpoints/            one directory each (checkpoint.h)
//   weights.safetensors     the final weights, once training has finished (weights_file.h)
//   summary.json            final figures, once training has finished
//   environment.json        what the process was when the run last began (run_environment.h)
//   profile.json            where the time of the last process went, once it has ended (docs/profiles.md)
//   report.html             all that for people, which `stoker train` writes when the run ends
//   lock                    held while a process trains here
//
// clang-format on
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/base/status.h"
#include "stoker/data/learn/learned.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/made_directories.h"
#include "stoker/run/choices.h"

namespace stoker {

// The paths of a run; accesses no file.
struct RunPaths {
  std::filesystem::path root;

  std::string recipe() const { return (root / "recipe.yaml").string(); }
  std::string allowed_changes() const { return (root / "allowed.json").string(); }
  std::string learned() const { return (root / "learned.json").string(); }
  std::string choices() const { return (root / "choices.json").string(); }
  std::string data() const { return (root / "data.json").string(); }
  std::string tuning() const { return (root / "tuning.json").string(); }
  std::string metrics() const { return (root / "metrics.jsonl").string(); }
  std::string log() const { return (root / "log").string(); }
  std::string checkpoints() const { return (root / "checkpoints").string(); }
  std::string weights() const { return (root / "weights.safetensors").string(); }
  std::string summary() const { return (root / "summary.json").string(); }
  std::string profile() const { return (root / "profile.json").string(); }
  // Of an export (train/callbacks/export.h): the figures that it was made for.
  std::string evaluation() const { return (root / "evaluation.json").string(); }
  std::string lock() const { return (root / "lock").string(); }
};

// Returns PARENT/NAME-20240131-235959, with -2, -3, ... appended if that exists. NAME is the recipe
// file's name without its ending; the time is local.
std::filesystem::path NewRunPath(const std::filesystem::path& parent, std::string_view recipe_name,
                                 std::chrono::system_clock::time_point now);

// Returns whether a process holds the run now: trains in it, or is about to. Takes no lock, so it
// never causes a process that opens the run to be refused. False also if unknown.
bool RunIsHeld(const std::filesystem::path& root);

// Reads the recipe of a run, for ParseRecipe. Errors: kNotFound if `root` is not a run.
Result<ConfigNode> ReadRunRecipe(const std::filesystem::path& root);

// Has `recipe`, which is about to be parsed, take what its stages learn from the run: sets
// `data.learned` where the run has learned something and the recipe does not name another file.
void UseLearnedOf(const std::filesystem::path& root, ConfigNode& recipe);

// Returns what the stages of the run have learned; null if none of them learns. Errors: those of
// ReadLearned.
Result<std::shared_ptr<const Learned>> ReadRunLearned(const std::filesystem::path& root);

// Reads the choices of the run's tuner; nothing if it has not chosen yet.
Result<std::optional<Choices>> ReadRunChoices(const std::filesystem::path& root);

// Reads the marks of the run's data files (WriteData); nothing if it has none.
Result<std::optional<Json>> ReadRunData(const std::filesystem::path& root);

// The place of a new run, and the directories that this process has made for it so far.
struct RunPlace {
  std::filesystem::path root;
  MadeDirectories made = {};
};

// The lock on a run, and the removal of a new one. Thread-safe.
class HeldRun {
 public:
  // For an existing run, which Discard leaves alone.
  HeldRun(const RunPaths& paths, Descriptor lock);
  // For a new run.
  HeldRun(MadeDirectories made, const RunPaths& paths, Descriptor lock);

  // Removes a new run before its first step, because it is worthless and would block the corrected
  // command: the files of the run and the directories that this process made for it. Does nothing
  // if the directory holds anything else, or is no longer this process's run, as after an earlier
  // call. Another thread that writes to the run meanwhile gets errors.
  void Discard();

  // Errors: kFailedPrecondition if the directory does not bear its name any more: somebody has
  // renamed or removed it, so what is written under the name would not belong to this run, or would
  // fall into another one. Sees nothing if the directory could not be opened when the lock was
  // taken.
  Status CheckPlace() const;

 private:
  Mutex mutex_;
  const bool is_new_;
  MadeDirectories made_ STOKER_GUARDED_BY(mutex_);
  const RunPaths paths_;
  const Descriptor lock_;
  const Descriptor directory_;  // stays the run's when it is renamed; invalid: not known
};

// A run that only this process may write to; the destructor or the end of the process releases the
// lock. One thread at a time.
class RunDirectory {
 public:
  // Makes the directory and writes the recipe. A directory of a process that was killed before that
  // counts as empty. After an error it removes everything that it made, and the empty ones of
  // `place.made`. Errors: kFailedPrecondition if the directory exists and is not empty.
  static Result<RunDirectory> Create(RunPlace place, const ConfigNode& recipe);

  // Opens a run and removes temporaries of killed processes. Errors: kNotFound if there is no run;
  // kUnavailable if another process trains in it.
  static Result<RunDirectory> Open(const std::filesystem::path& root);

  // Returns the run of a rank that leaves the directory to rank 0: its paths are empty, and what is
  // written to it goes nowhere.
  static RunDirectory Nowhere();
  bool nowhere() const { return paths_.root.empty(); }

  const RunPaths& paths() const { return paths_; }

  // Returns the lock on the run, which holds as long as a copy lives.
  const std::shared_ptr<HeldRun>& held() const { return held_; }

  Status WriteRecipe(const ConfigNode& recipe);

  Status WriteLearned(const Learned& learned);

  Status WriteChoices(const Choices& choices);

  // Makes the run choose again when it is resumed, if it is killed before WriteChoices.
  Status RemoveChoices();

  Status WriteData(const Json& marks);

  Status WriteTuning(const Json& report);

  Status WriteSummary(const Json& summary);

  Status WriteProfile(const Json& profile);

  // Removes the final weights and the summary, if any: a run that continues past its end has
  // neither until its new end.
  Status RemoveResults();

  // Appends "2024-01-31 23:59:59 message". Ignores errors, because a log must not stop training.
  void Log(std::string_view message);

 private:
  RunDirectory(RunPaths paths, std::shared_ptr<HeldRun> held)
      : paths_(std::move(paths)), held_(std::move(held)) {}

  RunPaths paths_;
  std::shared_ptr<HeldRun> held_;
};

}  // namespace stoker
