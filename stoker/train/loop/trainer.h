// Trainer: runs a recipe.
//
//   STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe("recipe.yaml"));
//   STOKER_ASSIGN_OR_RETURN(auto trainer, Trainer::Create(std::move(recipe), "runs/first"));
//   STOKER_ASSIGN_OR_RETURN(TrainSummary summary, trainer->Run());
//
// Its loop takes a batch, makes a step and, when due, logs, evaluates, writes a checkpoint and
// calls callbacks (callback.h). It can be stopped, or killed, at any moment; resumed, it ends with
// the same weights, byte for byte, as without the interruption.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/recipe/file_marks.h"
#include "stoker/run/observer.h"
#include "stoker/run/rank_pace.h"
#include "stoker/run/recipe.h"
#include "stoker/run/run_directory.h"

namespace stoker {

class Callback;
class Group;
class TrainingLoop;

struct TrainSummary {
  bool interrupted = false;  // stopped before the end; a checkpoint was written
  int64_t step = 0;          // done in all
  int64_t total_steps = 0;
  std::optional<Evaluation> last_evaluation;
  std::optional<double> best_accuracy;  // of all evaluations; nothing if none had one
  std::optional<double> best_loss;      // of all evaluations; nothing if there was none
  std::string noun = "sample";          // the kind of its samples (sample_noun.h)
  double images_per_s = 0;   // samples of any kind over all steps of the run, without tuning,
                             // evaluation or checkpoints
  double train_seconds = 0;  // likewise
  std::string run;           // the run directory
  std::string ended;       // why it ended before its last step (early stopping, a callback); or ""
  int64_t best_step = -1;  // of the checkpoint kept as the best (checkpoint.best); -1: none
  int64_t skipped = 0;     // skipped steps, and
  int64_t rollbacks = 0;   // restored weights (on_nonfinite)
  double waited = 0;  // share of this process's steps, without the first, spent waiting for data
  std::optional<Starvation> starved = {};  // the cause, if that is kStarvedFrom or more
  std::optional<RankPace> ranks = {};      // of several that train together

  Json ToJson() const;
};

struct ResumeOptions {
  // Continue although the recipe, or a file of its data, has changed in a way that changes the
  // weights; the run then keeps the new recipe.
  bool allow_changes = false;
  // kFull compares the whole content of the data files with the checksums that the run recorded,
  // which requires that the run was created with kFull. For such a run, kPlaces does so too if a
  // file was rewritten since.
  DataCheck data_check = DataCheck::kPlaces;
  CheckObserver on_data_check = {};   // of a full check; may be empty
  std::shared_ptr<Group> group = {};  // the ranks that train together; null: this process alone
};

// One at a time in a process: it sets torch's thread count and random state. One thread at a time.
//
// Several processes train together where each has a Trainer with its Group: rank 0 one of CreateIn
// or Resume, which keeps the run directory, all others one of Follow. A batch of the recipe is then
// one of all ranks, which share its rows (rank_rows.h). Each calls Run, which ends alike on all.
class Trainer {
 public:
  // Creates a new run in `run`, which must not exist or be empty. Errors: kInvalidArgument for a
  // recipe that cannot be trained (endless, a missing field or one of the wrong type), those of
  // RunDirectory, of OpenDevice and of the files.
  //   check     kFull reads all data once and records its checksums
  //   observer  of that read; may be empty
  static Result<std::unique_ptr<Trainer>> Create(Recipe recipe, const std::filesystem::path& run,
                                                 DataCheck check = DataCheck::kPlaces,
                                                 const CheckObserver& observer = {});

  // The same in a directory whose path `claim` returns after all other checks. After an error
  // everything made for the run is removed.
  //   claim  returns the place of the run, which it may have made; called at most once
  using RunClaim = std::function<Result<RunPlace>()>;
  static Result<std::unique_ptr<Trainer>> CreateIn(Recipe recipe, const RunClaim& claim,
                                                   DataCheck check = DataCheck::kPlaces,
                                                   const CheckObserver& observer = {},
                                                   std::shared_ptr<Group> group = {});

  // Trains as another rank than 0, which gets what it begins with from rank 0 and writes nothing.
  //   resume  whether rank 0 resumes a run
  static Result<std::unique_ptr<Trainer>> Follow(Recipe recipe, std::shared_ptr<Group> group,
                                                 bool resume);

  // Continues the run in `run` from its newest whole checkpoint, or from the start if it has none.
  // Errors: also kFailedPrecondition if the recipe or its files differ, with the keys and the
  // files.
  static Result<std::unique_ptr<Trainer>> Resume(Recipe recipe, const std::filesystem::path& run,
                                                 const ResumeOptions& options = {});
  ~Trainer();

  // Adds `callback`, which is called at its hook points (callback.h) before those of the recipe.
  // Call it before Run.
  //   name  its name in checkpoints and messages
  void Add(std::string name, std::shared_ptr<Callback> callback);

  // Removes a new run before its first step, with everything made for it (HeldRun::Discard). Does
  // nothing for a resumed run, or one that Run has refused. Callable from any thread, also during
  // Run, which must not reach its first step afterwards, because that would create the directory
  // again.
  void Discard() const;

  // Trains to the end, then writes weights.safetensors and summary.json. Call once.
  //   observer  may be null
  //   stop      may be null; a signal handler may set it. Once true, the current step ends (or is
  //             undone if it waits for a batch), a checkpoint is written, and Run returns
  // Errors: kFailedPrecondition if the loss is NaN or infinite and the recipe has no other policy
  // (names epoch, step, layer and samples; the last checkpoint is from before), the pipeline's (the
  // work done is stored first), those of callbacks, and those of writing: a checkpoint that cannot
  // be written ends the run, because continuing would risk hours of work; earlier ones stay.
  Result<TrainSummary> Run(TrainObserver* observer = nullptr,
                           const std::atomic<bool>* stop = nullptr);

 private:
  explicit Trainer(std::unique_ptr<TrainingLoop> loop);

  std::unique_ptr<TrainingLoop> loop_;
};

}  // namespace stoker
