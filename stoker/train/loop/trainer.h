// Trainer: runs a recipe.
//
//   STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe("recipe.yaml"));
//   STOKER_ASSIGN_OR_RETURN(auto trainer, Trainer::Create(std::move(recipe), "runs/first"));
//   STOKER_ASSIGN_OR_RETURN(TrainSummary summary, trainer->Run());
//
// One loop: take a batch, step, and at their times log, evaluate, write a checkpoint, call what you
// have added (callback.h). It can be
// stopped, or killed, at any moment; resumed, it ends with the same weights, byte for byte, as if
// it had not been.
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
#include "stoker/run/recipe.h"
#include "stoker/run/run_directory.h"

namespace stoker {

class Callback;
class TrainingLoop;

struct TrainSummary {
  bool interrupted = false;  // stopped before the end; a checkpoint was written
  int64_t step = 0;          // done in all
  int64_t total_steps = 0;
  std::optional<Evaluation> last_evaluation;
  std::optional<double> best_accuracy;  // of all evaluations; nothing where none had one
  std::optional<double> best_loss;      // of all evaluations; nothing where there was none
  std::string noun = "sample";          // what its samples are (sample_noun.h)
  double images_per_s = 0;   // samples, whatever they are, over all steps of the run: no tuning,
                             // evaluation or checkpoints
  double train_seconds = 0;  // likewise
  std::string run;           // the run directory
  std::string ended;       // why it ended before its last step (early stopping, a callback); or ""
  int64_t best_step = -1;  // of the checkpoint kept as the best (checkpoint.best); -1: none
  int64_t skipped = 0;     // steps left out, and
  int64_t rollbacks = 0;   // times the weights went back (on_nonfinite)
  double waited = 0;       // share of this process's steps, but the first, spent waiting for data
  std::optional<Starvation> starved = {};  // by what, where that is kStarvedFrom or more

  Json ToJson() const;
};

struct ResumeOptions {
  // Go on although the recipe, or a file of its data, differs from what the run was made with, in a
  // way that makes the weights other ones; the new recipe is then kept.
  bool allow_changes = false;
  // kFull compares the whole content of the data files with the checksums that the run recorded,
  // which it must have been created with kFull for. Where it was, kPlaces does so too once it finds
  // a file that was written since.
  DataCheck data_check = DataCheck::kPlaces;
  CheckObserver on_data_check = {};  // of a full check; may be empty
};

// One at a time in a process: it sets torch's thread count and random state. One thread at a time.
class Trainer {
 public:
  // A new run in `run`, which must not exist or be empty. Errors: kInvalidArgument for a recipe
  // that cannot be trained (no end, a field that is missing or of the wrong type), those of
  // RunDirectory, of OpenDevice and of the files.
  //   check     kFull records checksums of all data, for which all of it is read once
  //   observer  of that; may be empty
  static Result<std::unique_ptr<Trainer>> Create(Recipe recipe, const std::filesystem::path& run,
                                                 DataCheck check = DataCheck::kPlaces,
                                                 const CheckObserver& observer = {});

  // The same in a directory whose path is asked for last: after that only the directory itself can
  // be refused. After an error nothing is left of what was made for the run.
  //   claim  returns the place of the run, which it may have made; called at most once
  using RunClaim = std::function<Result<RunPlace>()>;
  static Result<std::unique_ptr<Trainer>> CreateIn(Recipe recipe, const RunClaim& claim,
                                                   DataCheck check = DataCheck::kPlaces,
                                                   const CheckObserver& observer = {});

  // Goes on with the run in `run` from its newest whole checkpoint, or from the start where it has
  // none. Errors: also kFailedPrecondition where the recipe or its files differ, with the keys and
  // the files.
  static Result<std::unique_ptr<Trainer>> Resume(Recipe recipe, const std::filesystem::path& run,
                                                 const ResumeOptions& options = {});
  ~Trainer();

  // Calls `callback` at its hook points (callback.h), before those that the recipe names. Before
  // Run.
  //   name  what a checkpoint and messages call it
  void Add(std::string name, std::shared_ptr<Callback> callback);

  // Takes a new run away, with all that was made for it (HeldRun::Discard): before its first step.
  // Does nothing for a run that was resumed, or that Run has refused. Any thread, also during Run,
  // which must not go on to its first step afterwards: that would begin the directory anew.
  void Discard() const;

  // Trains to the end, then writes weights.safetensors and summary.json. Call once.
  //   observer  may be null
  //   stop      may be null; may be set by a signal handler. Once true, the step under way ends (is
  //             undone if it waits for a batch), a checkpoint is written, and Run returns
  // Errors: kFailedPrecondition where the loss is NaN or infinite and the recipe does not say what
  // else to do (epoch, step, layer and samples are named; the last checkpoint is from before), the
  // pipeline's (what is done is stored first), those of callbacks, and those of writing: one that
  // cannot be written ends the run, since going on would risk hours of work; those before it stay.
  Result<TrainSummary> Run(TrainObserver* observer = nullptr,
                           const std::atomic<bool>* stop = nullptr);

 private:
  explicit Trainer(std::unique_ptr<TrainingLoop> loop);

  std::unique_ptr<TrainingLoop> loop_;
};

}  // namespace stoker
