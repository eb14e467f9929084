// RunDirectory: where a training run keeps everything it writes.
//
//   recipe.yaml           the recipe as resolved, every key filled in
//   choices.json          what the tuner chose
//   allowed.json          changes that a resumed run was allowed (allowed_changes.h)
//   data.json             what its data files were like when it last began (recipe_changes.h)
//   tuning.json           what it tried, with times and reasons (tune_report.h)
//   metrics.jsonl         one JSON object a line (metrics_file.h)
//   events.out.tfevents.* the same for TensorBoard, where asked for (tensorboard_log.h)
//   tensors.jsonl, trace-A-B.json   of the callbacks log_tensors and profile_steps
//   log                   what happened, with times
//   checkpoints/          one directory each (checkpoint.h)
//   weights.safetensors   the final weights (weights_file.h); there once training has finished
//   summary.json          final figures; likewise
//   lock                  held while a process trains here
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/made_directories.h"
#include "stoker/run/choices.h"

namespace stoker {

// The paths of a run, without touching any.
struct RunPaths {
  std::filesystem::path root;

  std::string recipe() const { return (root / "recipe.yaml").string(); }
  std::string allowed_changes() const { return (root / "allowed.json").string(); }
  std::string choices() const { return (root / "choices.json").string(); }
  std::string data() const { return (root / "data.json").string(); }
  std::string tuning() const { return (root / "tuning.json").string(); }
  std::string metrics() const { return (root / "metrics.jsonl").string(); }
  std::string log() const { return (root / "log").string(); }
  std::string checkpoints() const { return (root / "checkpoints").string(); }
  std::string weights() const { return (root / "weights.safetensors").string(); }
  std::string summary() const { return (root / "summary.json").string(); }
  std::string lock() const { return (root / "lock").string(); }
};

// PARENT/NAME-20240131-235959, with -2, -3, ... behind where that exists. NAME is the recipe file's
// name without its ending; the time is local.
std::filesystem::path NewRunPath(const std::filesystem::path& parent, std::string_view recipe_name,
                                 std::chrono::system_clock::time_point now);

// Whether a process holds the run at this moment: trains in it, or is about to. Takes nothing, so a
// process that opens the run meanwhile is not refused because of it. False also where that cannot
// be known.
bool RunIsHeld(const std::filesystem::path& root);

// The recipe of a run, as ParseRecipe takes it. Errors: kNotFound where `root` is no run.
Result<ConfigNode> ReadRunRecipe(const std::filesystem::path& root);

// What the run's tuner chose; nothing where it has not chosen yet.
Result<std::optional<Choices>> ReadRunChoices(const std::filesystem::path& root);

// The marks of the run's data files, as it was given them (WriteData); nothing where it has none.
Result<std::optional<Json>> ReadRunData(const std::filesystem::path& root);

// Where a new run is to be, and the directories that this process has made for it so far.
struct RunPlace {
  std::filesystem::path root;
  MadeDirectories made = {};
};

// The lock on a run, and what undoes the making of a new one. Thread-safe.
class HeldRun {
 public:
  // Of a run that was there before, which Discard leaves alone.
  HeldRun(const RunPaths& paths, Descriptor lock);
  // Of a new run.
  HeldRun(MadeDirectories made, const RunPaths& paths, Descriptor lock);

  // Takes a new run away before its first step: nothing of it is worth keeping, and it would be in
  // the way of the corrected command. Removes the files of the run and the directories that this
  // process made for it. Does nothing where the directory holds anything else, and where it is no
  // longer this process's run, as after an earlier call. Another thread may be writing to the run
  // meanwhile; it gets errors.
  void Discard();

 private:
  std::mutex mutex_;
  const bool is_new_;
  MadeDirectories made_;
  const RunPaths paths_;
  const Descriptor lock_;
};

// A run that this process alone may write to; the lock goes when it is destroyed or the process
// ends. One thread at a time.
class RunDirectory {
 public:
  // Makes the directory and writes the recipe. A directory that a process left which was killed
  // before it had done so counts as empty. After an error nothing is left of what was made, nor
  // those of `place.made` that are empty. Errors: kFailedPrecondition where it exists and is not
  // empty.
  static Result<RunDirectory> Create(RunPlace place, const ConfigNode& recipe);

  // Also removes what a killed process left half-written. Errors: kNotFound where there is no run;
  // kUnavailable where another process trains in it.
  static Result<RunDirectory> Open(const std::filesystem::path& root);

  const RunPaths& paths() const { return paths_; }

  // The lock on the run. Who keeps it keeps the run locked.
  const std::shared_ptr<HeldRun>& held() const { return held_; }

  Status WriteRecipe(const ConfigNode& recipe);

  Status WriteChoices(const Choices& choices);

  Status WriteData(const Json& marks);

  Status WriteTuning(const Json& report);

  Status WriteSummary(const Json& summary);

  // Removes the final weights and the summary, where there are any: a run that goes on past its end
  // has neither until its new end.
  Status RemoveResults();

  // Appends "2024-01-31 23:59:59 message". A log that cannot be written is no reason to stop
  // training, so errors are dropped.
  void Log(std::string_view message);

 private:
  RunDirectory(RunPaths paths, std::shared_ptr<HeldRun> held)
      : paths_(std::move(paths)), held_(std::move(held)) {}

  RunPaths paths_;
  std::shared_ptr<HeldRun> held_;
};

}  // namespace stoker
