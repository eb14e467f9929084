#include "stoker/tools/trainer/predict_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/prediction_text.h"
#include "stoker/tools/trainer/undefined_predictions.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {
namespace {

// Where the lines go. Until there are some nothing has to be put in order, and a signal ends the
// process at once, however long the data take to open.
class Lines {
 public:
  explicit Lines(std::string to) : to_(std::move(to)) {}

  Status Write(std::string_view text) {
    if (!begun_) STOKER_RETURN_IF_ERROR(Begin());
    return file_ ? file_->Append(text) : PrintResult(text);
  }
  // Once something was written.
  Status Commit() { return file_ ? file_->Commit() : OkStatus(); }

 private:
  Status Begin() {
    begun_ = true;
    NoteInterrupt();
    if (to_.empty()) return OkStatus();
    ::signal(SIGPIPE, SIG_IGN);  // nothing is left of a file half-written
    STOKER_ASSIGN_OR_RETURN(file_, AtomicFileWriter::Create(to_));
    return OkStatus();
  }

  const std::string to_;  // empty: standard output
  bool begun_ = false;
  std::optional<AtomicFileWriter> file_;
};

// What was predicted.
Json AnswerJson(const Prediction& prediction, const Predictor& predictor,
                const PredictArguments& arguments) {
  if (!prediction.parts.empty()) {
    Json targets = Json::object();
    for (const Prediction& part : prediction.parts)
      targets[part.target] = AnswerJson(part, predictor, arguments);
    return {{"targets", std::move(targets)}};
  }
  const std::vector<std::string>& names = ClassNamesFor(predictor, prediction);
  if (prediction.probabilities.empty()) return {{"numbers", ScoresJson(prediction)}};
  const auto best = static_cast<size_t>(prediction.best);
  Json line = {{"label", best},
               {"class", ClassName(names, best)},
               {"probability", AsShown(prediction.probabilities[best])}};
  if (prediction.labels) {
    const auto holds = std::ranges::count_if(prediction.probabilities,
                                             [](float probability) { return probability > 0.5F; });
    line = {{"labels", LikeliestJson(prediction, names, holds)}};
  }
  if (arguments.top) line["classes"] = LikeliestJson(prediction, names, *arguments.top);
  if (arguments.scores) line["scores"] = ScoresJson(prediction);
  return line;
}

// The lines of a batch.
std::string TextOf(const PredictedBatch& batch, const Predictor& predictor,
                   const PredictArguments& arguments) {
  std::string text;
  for (size_t i = 0; i < batch.predictions.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    Json line = AnswerJson(batch.predictions[i], predictor, arguments);
    line["sample"] = batch.first + row;
    if (!batch.numbers.empty()) line["index"] = batch.numbers[i];
    if (!batch.files.empty() && !batch.files[i].empty()) line["file"] = batch.files[i];
    for (size_t f = 0; f < batch.fields.size(); ++f)
      line["fields"][arguments.fields[f]] = RowValue(batch.fields[f], row);
    text += DumpJson(line) + "\n";
  }
  return text;
}

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
  Lines lines(arguments.to);
  UndefinedPredictions undefined;
  const Result<PredictSummary> summary =
      predictor->PredictRun(options, [&](const PredictedBatch& batch) {
        for (size_t i = 0; i < batch.predictions.size(); ++i)
          undefined.Look(batch.predictions[i], [&] { return SampleName(batch, i); });
        return lines.Write(TextOf(batch, *predictor, arguments));
      });
  if (!summary.ok()) return Explained(summary.status(), arguments.to);
  STOKER_RETURN_IF_ERROR(lines.Commit());
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
