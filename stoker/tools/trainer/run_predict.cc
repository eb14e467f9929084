#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/predict_data.h"
#include "stoker/tools/trainer/prediction_text.h"
#include "stoker/tools/trainer/sample_file.h"
#include "stoker/tools/trainer/undefined_predictions.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {
namespace {

// Images put through the model at once.
constexpr int64_t kAtOnce = 1000;
constexpr int64_t kImagesOfEach = 10;  // file, where nothing else is asked for
constexpr int64_t kClassesOfEach = 3;  // image

struct NamedPrediction {
  std::string file;
  int64_t index = 0;  // in the file
  Prediction prediction;
};

struct FileError {
  std::string file;
  Status status;
};

// One file that cannot be read takes nothing from the answers for the others.
struct Answers {
  std::vector<NamedPrediction> predictions;
  std::vector<FileError> errors;

  // OK, or what is wrong with every file that failed (problems.h).
  Status status() const {
    Problems problems;
    for (const FileError& error : errors) problems.Add(error.status);
    return problems.ToStatus();
  }
};

// What of a prediction is shown.
struct Shown {
  int64_t top;  // likeliest classes
  bool scores;  // also what the model gives for each class
};

Status PredictFile(Predictor& predictor, const std::string& file, int64_t limit,
                   std::vector<NamedPrediction>& out) {
  const SampleForm form = predictor.decodes() ? SampleForm::kFiles : SampleForm::kPixels;
  STOKER_ASSIGN_OR_RETURN(const Array samples, ReadSamples(file, form, limit));
  const int64_t total = samples.shape().front();
  for (int64_t begin = 0; begin < total; begin += kAtOnce) {
    const int64_t end = std::min(total, begin + kAtOnce);
    Result<std::vector<Prediction>> predictions = predictor.Predict(samples.Rows(begin, end));
    if (!predictions.ok()) return predictions.status().While("predicting " + file);
    for (int64_t i = begin; i < end; ++i) {
      out.push_back({file, i, std::move((*predictions)[static_cast<size_t>(i - begin)])});
    }
  }
  return OkStatus();
}

Json ShownJson(const Predictor& predictor, const Prediction& prediction, const Shown& shown) {
  Json json = Json::object();
  for (const Prediction& part : prediction.parts)
    json["targets"][part.target] = ShownJson(predictor, part, shown);
  if (!prediction.parts.empty()) return json;
  if (prediction.probabilities.empty()) {
    json["numbers"] = ScoresJson(prediction);
  } else {
    json["classes"] = LikeliestJson(prediction, ClassNamesFor(predictor, prediction), shown.top);
    if (shown.scores) json["scores"] = ScoresJson(prediction);
  }
  return json;
}

Json ToJson(const Predictor& predictor, const NamedPrediction& named, const Shown& shown) {
  Json json = ShownJson(predictor, named.prediction, shown);
  json["file"] = named.file;
  json["index"] = named.index;
  return json;
}

std::string AnswerText(const Predictor& predictor, const Prediction& prediction,
                       const Shown& shown) {
  std::vector<std::string> answers;
  for (const Prediction& part : prediction.parts) {
    answers.push_back(
        fmt::format("{}: {}", Printable(part.target), AnswerText(predictor, part, shown)));
  }
  if (!prediction.parts.empty()) return fmt::format("{}", fmt::join(answers, "; "));
  const std::string scores = fmt::format("{:.6g}", fmt::join(prediction.scores, ", "));
  const bool classes = !prediction.probabilities.empty();
  if (!classes) answers.push_back(scores);
  for (const size_t number : Likeliest(prediction, shown.top)) {
    answers.push_back(
        fmt::format("{} {:.3f}", Printable(ClassName(ClassNamesFor(predictor, prediction), number)),
                    prediction.probabilities[number]));
  }
  if (classes && shown.scores) answers.push_back("scores " + scores);
  return fmt::format("{}", fmt::join(answers, ", "));
}

std::string ToText(const Predictor& predictor, const NamedPrediction& named, const Shown& shown) {
  return fmt::format("{}[{}]: {}\n", Printable(named.file), named.index,
                     AnswerText(predictor, named.prediction, shown));
}

std::string AllJson(const Predictor& predictor, const Answers& answers, const Shown& shown) {
  Json predictions = Json::array(), errors = Json::array();
  for (const NamedPrediction& named : answers.predictions) {
    predictions.push_back(ToJson(predictor, named, shown));
  }
  for (const FileError& error : answers.errors) {
    errors.push_back({{"file", error.file}, {"error", error.status.message()}});
  }
  return DumpJson({{"weights", predictor.weights()},
                   {"predictions", std::move(predictions)},
                   {"errors", std::move(errors)}}) +
         "\n";
}

std::string AllText(const Predictor& predictor, const Answers& answers, const Shown& shown) {
  std::string text;
  for (const NamedPrediction& named : answers.predictions) text += ToText(predictor, named, shown);
  return text;
}

Status PredictFiles(const PredictArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> predictor,
                          Predictor::Open(arguments.run, arguments.set));
  for (const std::string& warning : predictor->warnings()) LogWarning("{}", warning);
  const int64_t limit = arguments.limit.value_or(kImagesOfEach);
  const Shown shown{.top = arguments.top.value_or(kClassesOfEach), .scores = arguments.scores};
  Answers answers;
  for (const std::string& file : arguments.files) {
    Status status = PredictFile(*predictor, file, limit, answers.predictions);
    if (!status.ok()) answers.errors.push_back({file, std::move(status)});
  }
  UndefinedPredictions undefined;
  for (const NamedPrediction& named : answers.predictions) {
    undefined.Look(named.prediction,
                   [&named] { return fmt::format("{}[{}]", named.file, named.index); });
  }
  undefined.Warn();
  STOKER_RETURN_IF_ERROR(PrintResult(arguments.json ? AllJson(*predictor, answers, shown)
                                                    : AllText(*predictor, answers, shown)));
  return answers.status();
}

}  // namespace

Status RunPredict(const PredictArguments& arguments) {
  return arguments.files.empty() ? PredictData(arguments) : PredictFiles(arguments);
}

}  // namespace stoker
