#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/trainer/prediction_output.h"
#include "stoker/tools/trainer/prediction_text.h"

namespace stoker {
namespace {

class PredictionLines final : public PredictionOutput {
 public:
  PredictionLines(const PredictArguments& arguments, const Predictor& predictor)
      : arguments_(arguments), predictor_(predictor) {}

  Status Write(const PredictedBatch& batch) override {
    if (!begun_) STOKER_RETURN_IF_ERROR(Begin());
    const std::string text = TextOf(batch);
    return file_ ? file_->Append(text) : PrintResult(text);
  }

  Status Commit() override { return file_ ? file_->Commit() : OkStatus(); }

 private:
  Status Begin() {
    begun_ = true;
    NoteInterrupt();
    if (arguments_.to.empty()) return OkStatus();
    ::signal(SIGPIPE, SIG_IGN);  // nothing is left of a file half-written
    STOKER_ASSIGN_OR_RETURN(file_, AtomicFileWriter::Create(arguments_.to));
    return OkStatus();
  }

  // What was predicted.
  Json AnswerOf(const Prediction& prediction) const {
    if (!prediction.parts.empty()) {
      Json targets = Json::object();
      for (const Prediction& part : prediction.parts) targets[part.target] = AnswerOf(part);
      return {{"targets", std::move(targets)}};
    }
    const std::vector<std::string>& names = ClassNamesFor(predictor_, prediction);
    if (prediction.probabilities.empty()) return {{"numbers", ScoresJson(prediction)}};
    const auto best = static_cast<size_t>(prediction.best);
    Json line = {{"label", best},
                 {"class", ClassName(names, best)},
                 {"probability", AsShown(prediction.probabilities[best])}};
    if (prediction.labels) {
      const auto holds = std::ranges::count_if(
          prediction.probabilities, [](float probability) { return probability > 0.5F; });
      line = {{"labels", LikeliestJson(prediction, names, holds)}};
    }
    if (arguments_.top) line["classes"] = LikeliestJson(prediction, names, *arguments_.top);
    if (arguments_.scores) line["scores"] = ScoresJson(prediction);
    return line;
  }

  std::string TextOf(const PredictedBatch& batch) const {
    std::string text;
    for (size_t i = 0; i < batch.predictions.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      Json line = AnswerOf(batch.predictions[i]);
      line["sample"] = batch.first + row;
      if (!batch.numbers.empty()) line["index"] = batch.numbers[i];
      if (!batch.files.empty() && !batch.files[i].empty()) line["file"] = batch.files[i];
      for (size_t f = 0; f < batch.fields.size(); ++f)
        line["fields"][arguments_.fields[f]] = RowValue(batch.fields[f], row);
      text += DumpJson(line) + "\n";
    }
    return text;
  }

  const PredictArguments& arguments_;
  const Predictor& predictor_;
  bool begun_ = false;
  std::optional<AtomicFileWriter> file_;
};

}  // namespace

std::unique_ptr<PredictionOutput> MakePredictionLines(const PredictArguments& arguments,
                                                      const Predictor& predictor) {
  return std::make_unique<PredictionLines>(arguments, predictor);
}

}  // namespace stoker
