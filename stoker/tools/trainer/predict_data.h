// `stoker predict` without FILE: the samples of the run's own eval pipeline.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/commands/predict_command.h"

namespace stoker {

// Writes a line of JSON for each sample, in the order of the pipeline: to standard output, a batch
// at a time, or to --to, which appears when all are made.
//
//   {"sample": 0,           its place in the pipeline
//    "index": 0,            its number in its source (data/recipe/numbered_pipeline.h)
//    "file": "a/1.png",     that it was read from; these two if known "label": 3, "class": "cat",
//    "probability": 0.93,
//    "classes": [...],      of --top, from LikeliestJson
//    "scores": [...],       of --scores
//    "fields": {...}}       of --fields, from RowValue
//
// For a model of numbers the scores are its "numbers", and there is no label, class or probability.
// Errors: those of Predictor; kCancelled if a signal stopped it, with nothing written to --to.
Status PredictData(const PredictArguments& arguments);

}  // namespace stoker
