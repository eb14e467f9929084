#include "stoker/run/progress.h"

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

// Nothing of null.
std::optional<double> NumberIn(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

Json Progress::ToJson() const {
  return {{"step", step},
          {"closed_step", closed_step},
          {"last_evaluation", last_evaluation ? last_evaluation->ToJson() : Json()},
          {"best_accuracy", OrNull(best_accuracy)},
          {"best_loss", OrNull(best_loss)},
          {"evaluated_step", evaluated_step},
          {"best_value", OrNull(best_value)},
          {"best_step", best_step},
          {"planned_checkpoint", planned_checkpoint},
          {"skipped", skipped},
          {"skipped_in_row", skipped_in_row},
          {"rollbacks", rollbacks},
          {"ended", ended},
          {"train_seconds", train_seconds},
          {"train_samples", train_samples}};
}

Result<Progress> Progress::FromJson(const Json& json) {
  try {
    Progress progress;
    json.at("step").get_to(progress.step);
    json.at("closed_step").get_to(progress.closed_step);
    progress.best_accuracy = NumberIn(json.at("best_accuracy"));
    // Versions before this one had none of these.
    progress.best_loss = NumberIn(json.value("best_loss", Json()));
    progress.evaluated_step = json.value("evaluated_step", progress.closed_step);
    progress.best_value = NumberIn(json.value("best_value", Json()));
    progress.best_step = json.value("best_step", int64_t{-1});
    progress.planned_checkpoint = json.value("planned_checkpoint", int64_t{-1});
    progress.skipped = json.value("skipped", int64_t{0});
    progress.skipped_in_row = json.value("skipped_in_row", int64_t{0});
    progress.rollbacks = json.value("rollbacks", int64_t{0});
    progress.ended = json.value("ended", std::string());
    json.at("train_seconds").get_to(progress.train_seconds);
    json.at("train_samples").get_to(progress.train_samples);
    if (const Json& last = json.at("last_evaluation"); !last.is_null()) {
      progress.last_evaluation = Evaluation{.samples = last.at("samples"),
                                            .loss = last.at("loss"),
                                            .accuracy = NumberIn(last.value("accuracy", Json())),
                                            .seconds = last.at("seconds"),
                                            .metrics = last.value("metrics", Json())};
    }
    return progress;
  } catch (const Json::exception& error) {
    return DataLoss("the progress is not as we write it: {}", error.what());
  }
}

}  // namespace stoker
