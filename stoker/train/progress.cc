#include "stoker/train/progress.h"

namespace stoker {

Json Progress::ToJson() const {
  return {{"step", step},
          {"closed_step", closed_step},
          {"last_evaluation", last_evaluation ? last_evaluation->ToJson() : Json()},
          {"best_accuracy", best_accuracy},
          {"train_seconds", train_seconds},
          {"train_samples", train_samples}};
}

Result<Progress> Progress::FromJson(const Json& json) {
  try {
    Progress progress;
    json.at("step").get_to(progress.step);
    json.at("closed_step").get_to(progress.closed_step);
    json.at("best_accuracy").get_to(progress.best_accuracy);
    json.at("train_seconds").get_to(progress.train_seconds);
    json.at("train_samples").get_to(progress.train_samples);
    if (const Json& last = json.at("last_evaluation"); !last.is_null()) {
      progress.last_evaluation = Evaluation{.samples = last.at("samples"),
                                            .loss = last.at("loss"),
                                            .accuracy = last.at("accuracy"),
                                            .seconds = last.at("seconds"),
                                            .metrics = last.value("metrics", Json())};
    }
    return progress;
  } catch (const Json::exception& error) {
    return DataLoss("the progress is not as we write it: {}", error.what());
  }
}

}  // namespace stoker
