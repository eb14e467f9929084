// What a run was made with, against what it is asked to go on with: which changes of a recipe, or
// of the data files that it names, give other weights than one uninterrupted run would have.
//
// None of these does:
//   data.root, data.classes            where the files lie, what classes are called
//   train.log_every, metrics, tensorboard, feed_threads, device_prefetch, memory, tune, lint,
//   sanity, detect_anomaly, activation_checkpointing
//   train.checkpoint.keep, every_minutes, async
// These do only where something depends on them:
//   data.eval, train.eval_every, eval_every_steps, limit_batches.eval
//                                      where the schedule follows evaluations (plateau), or
//                                      early_stopping does, or the best checkpoint is one that
//                                      on_nonfinite: rollback may go back to
//   train.checkpoint.every_steps, best, best_mode
//                                      where on_nonfinite: rollback may go back to these
// All others do, or may. Of files the same holds: those of data.eval matter where something depends
// on evaluations, those of data.train always (data/recipe/file_marks.h says what is noticed).
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/data/recipe/file_marks.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Each as "train.epochs: 3 -> 5".
struct RecipeChanges {
  std::vector<std::string> of_weights;  // that make the weights other ones
  std::vector<std::string> harmless;
  bool choose_again = false;  // something that the tuner's choices depend on has changed

  bool any() const { return !of_weights.empty() || !harmless.empty(); }
  // For people: one line for each list.
  std::vector<std::string> Warnings() const;
};

//   before  with every key filled in
RecipeChanges CompareRecipes(const ConfigNode& before, const Recipe& now);

// Each as "data.train: train-images has 12 bytes, it had 34".
struct DataChanges {
  std::vector<std::string> of_weights;
  std::vector<std::string> warnings;  // of all others
  std::vector<std::string> unsure;    // of files that were written since and may have changed

  bool any() const { return !of_weights.empty() || !warnings.empty() || !unsure.empty(); }
};

// What the files of a recipe's pipelines are like now: {"train": MarkFiles(...), "eval": ...}.
//   observer  of the full check of each pipeline, one after the other
Json MarkData(const DataRecipe& data, DataCheck check = DataCheck::kPlaces,
              const CheckObserver& observer = {});

// Whether the marks of all pipelines hold what a full check compares with.
bool HaveFullChecks(const Json& marks);

// KeepFullCheck (data/recipe/file_marks.h) of each pipeline.
void KeepFullChecks(const Json& before, Json& now);

//   before, now  as MarkData gives them
DataChanges CompareData(const Json& before, const Json& now, const Recipe& recipe);

}  // namespace stoker
