// `stoker predict` without FILE: the samples of the run's own eval pipeline.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/commands/predict_command.h"

namespace stoker {

// Writes a line of JSON or a row for each sample (prediction_output.h), in the order of the
// pipeline: to standard output, a batch at a time, or to --to, which appears when all are made.
// Errors: those of Predictor; kCancelled if a signal stopped it, with nothing written to --to.
Status PredictData(const PredictArguments& arguments);

}  // namespace stoker
