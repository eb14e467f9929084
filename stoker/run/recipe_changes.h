// Compares the recipe and data of a run with those it is resumed with: which changes result in
// other weights than one uninterrupted run.
//
// These never do:
//   data.root, data.classes            the place of the files, the names of classes
//   plugins.N.file                     the place of a plug-in; another file has another sha256
//   train.log_every, metrics, tensorboard, feed_threads,
//   device_prefetch, memory, tune, lint, sanity, detect_anomaly,
//   activation_checkpointing train.checkpoint.keep,
//   every_minutes, async, parts, train.distributed.backend, timeout,
//   shard_optimizer
// These do only if something depends on them:
//   data.eval, train.eval_every, eval_every_steps, limit_batches.eval,
//   train.weighted_metrics
//                                      if the schedule follows evaluations (plateau), or
//                                      early_stopping does, or on_nonfinite: rollback may restore
//                                      the best checkpoint
//   train.checkpoint.every_steps, best, best_mode
//                                      if on_nonfinite: rollback may restore these
// All others do, or may. The same holds for files: those of data.eval matter if something depends
// on evaluations, those of data.train always (data/recipe/file_marks.h says what is detected).
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/data/recipe/file_changes.h"
#include "stoker/data/recipe/file_marks.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Each as "train.epochs: 3 -> 5".
struct RecipeChanges {
  std::vector<std::string> of_weights;  // that change the weights
  std::vector<std::string> harmless;
  bool choose_again = false;  // an input of the tuner's choices has changed

  bool any() const { return !of_weights.empty() || !harmless.empty(); }
  // Returns one line for each list.
  std::vector<std::string> Warnings() const;
};

//   before  every key filled in
RecipeChanges CompareRecipes(const ConfigNode& before, const Recipe& now);

// Each as "data.train: train-images has 12 bytes, it had 34".
struct DataChanges {
  std::vector<std::string> of_weights;
  std::vector<std::string> warnings;  // of all others
  std::vector<std::string> unsure;    // of files that were rewritten and may have changed

  bool any() const { return !of_weights.empty() || !warnings.empty() || !unsure.empty(); }
};

// Returns marks of the current files of a recipe's pipelines: {"train": MarkFiles(...), "eval":
// ...}.
//   observer  for the full check of each pipeline in turn
Result<Json> MarkData(const DataRecipe& data, DataCheck check = DataCheck::kPlaces,
                      const CheckObserver& observer = {});

// Returns whether the marks of all pipelines include a full check.
bool HaveFullChecks(const Json& marks);

// Calls KeepFullCheck (data/recipe/file_marks.h) for each pipeline.
void KeepFullChecks(const Json& before, Json& now);

//   before, now  results of MarkData
DataChanges CompareData(const Json& before, const Json& now, const Recipe& recipe);

}  // namespace stoker
