// Where `stoker predict` writes what it predicts of the run's own eval pipeline.
#pragma once

#include <memory>

#include "stoker/base/status.h"
#include "stoker/tools/commands/predict_command.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {

// One thread at a time. Until the first batch nothing has to be put in order, so a signal ends the
// process at once, however long the data take to open.
class PredictionOutput {
 public:
  virtual ~PredictionOutput() = default;

  virtual Status Write(const PredictedBatch& batch) = 0;
  // Once something was written; gives a file its name (io/atomic_file.h).
  virtual Status Commit() = 0;
};

// Returns, by the ending of --to, a table for .csv and .tsv, also with .gz, else lines of JSON: to
// that file, or to standard output. Both arguments must outlive it.
std::unique_ptr<PredictionOutput> MakePredictionOutput(const PredictArguments& arguments,
                                                       const Predictor& predictor);

// Lines of JSON:
//
//   {"sample": 0,           its place in the pipeline
//    "index": 0,            its number in its source (data/recipe/numbered_pipeline.h)
//    "file": "a/1.png",     that it was read from; these two if known
//    "label": 3, "class": "cat", "probability": 0.93,
//    "classes": [...],      of --top, from LikeliestJson
//    "scores": [...],       of --scores
//    "fields": {...}}       of --fields, from RowValue
//
// For a model of numbers the scores are its "numbers", and there is no label, class or probability.
std::unique_ptr<PredictionOutput> MakePredictionLines(const PredictArguments& arguments,
                                                      const Predictor& predictor);

// A header, then a row a sample, with a column for each value that a line of JSON has:
//
//   sample, index, file     as above
//   NAME, NAME_0, NAME_1    of --fields; fields.NAME where another column has that name
//   class, label, probability, of --top also class_2, label_2, probability_2, ...
//   probability_CLASS       in their place, for each of several labels a sample
//   score_CLASS             of --scores
//   number, number_0, ...   of a model of numbers
//   TARGET.class, ...       of several targets
//
// What is not finite is an empty cell. Errors: also kInvalidArgument for a field that has more
// values in one sample than in another.
std::unique_ptr<PredictionOutput> MakePredictionTable(const PredictArguments& arguments,
                                                      const Predictor& predictor);

}  // namespace stoker
