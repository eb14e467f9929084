#include "stoker/tools/trainer/predict_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/prediction_output.h"
#include "stoker/tools/trainer/undefined_predictions.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {
namespace {

// How messages name sample `row` of a batch.
std::string SampleName(const PredictedBatch& batch, size_t row) {
  if (!batch.files.empty() && !batch.files[row].empty()) return batch.files[row];
  return fmt::format("sample {}", batch.first + static_cast<int64_t>(row));
}

// Only if a file was written: otherwise standard output has the lines alone.
Status PrintSummary(const PredictSummary& summary, const std::string& weights,
                    const PredictArguments& arguments) {
  if (arguments.to.empty()) return OkStatus();
  if (!arguments.json) {
    return PrintResult(fmt::format("{}: {}, by {}\n", Printable(arguments.to),
                                   CountText(summary.samples, "prediction"), Printable(weights)));
  }
  return PrintResult(
      DumpJson({{"to", arguments.to}, {"samples", summary.samples}, {"weights", weights}}) + "\n");
}

// Why there are no predictions, and what that means for the file.
Status Explained(const Status& status, const std::string& to) {
  if (status.code() != StatusCode::kCancelled || to.empty()) return status;
  return Cancelled("{}; nothing is kept of {}", status.message(), to);
}

}  // namespace

Status PredictData(const PredictArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> predictor,
                          Predictor::Open(arguments.run, arguments.set));
  for (const std::string& warning : predictor->warnings()) LogWarning("{}", warning);
  PredictOptions options{.fields = arguments.fields, .limit = {}, .stop = &Interrupted()};
  if (arguments.limit.value_or(0) > 0) options.limit = arguments.limit;
  const std::unique_ptr<PredictionOutput> output = MakePredictionOutput(arguments, *predictor);
  UndefinedPredictions undefined;
  const Result<PredictSummary> summary =
      predictor->PredictRun(options, [&](const PredictedBatch& batch) {
        for (size_t i = 0; i < batch.predictions.size(); ++i)
          undefined.Look(batch.predictions[i], [&] { return SampleName(batch, i); });
        return output->Write(batch);
      });
  if (!summary.ok()) return Explained(summary.status(), arguments.to);
  STOKER_RETURN_IF_ERROR(output->Commit());
  undefined.Warn();
  if (!summary->disturbances.empty()) {
    LogWarning(
        "data.eval does not give each sample once and in its order: {}; {} which one a line "
        "is for",
        fmt::join(summary->disturbances, ", "),
        summary->numbered ? "`index` says" : "a field that --fields names may say");
  }
  return PrintSummary(*summary, predictor->weights(), arguments);
}

}  // namespace stoker
