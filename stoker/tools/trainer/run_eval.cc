#include <fmt/format.h>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/metrics_text.h"
#include "stoker/tools/trainer/undefined_predictions.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {

Status RunEval(const EvalArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> predictor,
                          Predictor::Open(arguments.run, arguments.set));
  for (const std::string& warning : predictor->warnings()) LogWarning("{}", warning);
  STOKER_ASSIGN_OR_RETURN(const Evaluation evaluation, predictor->EvaluateRun());
  WarnOfUndefinedLoss(evaluation.loss);
  if (arguments.json) {
    Json json = evaluation.ToJson();
    json["weights"] = predictor->weights();
    if (!predictor->classes().empty()) json["classes"] = predictor->classes();
    for (const PredictedTarget& target : predictor->targets()) {
      if (!target.classes.empty()) json["classes"][target.name] = target.classes;
    }
    return PrintResult(DumpJson(json) + "\n");
  }
  std::string text;
  if (evaluation.accuracy) text += fmt::format("accuracy  {:.4f}\n", *evaluation.accuracy);
  text += fmt::format("loss      {:.4f}\nsamples   {} in {}\nweights   {}\n", evaluation.loss,
                      WithThousands(static_cast<double>(evaluation.samples)),
                      DurationText(evaluation.seconds), Printable(predictor->weights()));
  text += TableText(MetricRows(evaluation.metrics, predictor->classes(), predictor->targets()));
  return PrintResult(text);
}

}  // namespace stoker
