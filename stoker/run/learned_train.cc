#include "stoker/run/learned_train.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/run/loss_section_internal.h"

namespace stoker {
namespace {

Result<const LearnedValue*> FindValue(const Learned* learned, std::string_view stage,
                                      std::string_view key, const TrainRecipe& train) {
  const std::string& field = train.options.target;
  const LearnedValue* const value =
      learned == nullptr ? nullptr : learned->Find(stage, field, /*which=*/1);
  if (value != nullptr) return value;
  return InvalidArgument(
      "{}: {} is to be learned from the field '{}', and {} has no such value; train anew, or give "
      "numbers",
      train.NameOf(key), AskingOption(stage), field,
      learned != nullptr && learned->from.contains("file")
          ? learned->from["file"].get<std::string>()
          : std::string("what was learned"));
}

// Of an option below the one name that a key of `train` has: target: {price: {normalize: auto}}.
ConfigLocation PlaceOf(const TrainRecipe& train, const char* key, const char* option) {
  const ConfigNode* const named = train.written.Find(key);
  if (named == nullptr) return {};
  const ConfigNode* const written =
      named->entries.size() == 1 ? named->entries.front().value.Find(option) : nullptr;
  return written == nullptr ? named->location : written->location;
}

// A file whose checksum is right may have been made by another program.
Result<std::vector<double>> NumbersIn(const LearnedValue& value, const char* option,
                                      bool above_zero) {
  std::vector<double> numbers;
  const Json list = value.options.value(option, Json());
  for (const Json& number : list.is_array() ? list : Json::array()) {
    const double read = number.is_number() ? number.get<double>() : NAN;
    if (!std::isfinite(read) || (above_zero && read <= 0))
      return DataLoss("what was learned for {}: {} has {}, and it must be numbers{}", value.Name(),
                      option, number.dump(), above_zero ? " above 0" : "");
    numbers.push_back(read);
  }
  if (numbers.empty())
    return DataLoss("what was learned for {}: {} is no list of numbers", value.Name(), option);
  return numbers;
}

}  // namespace

std::vector<TrainingRequest> RequestsOf(const TrainRecipe& train) {
  const std::string& field = train.options.target;
  std::vector<TrainingRequest> requests;
  if (train.target.learns) {
    requests.push_back({train.target.log ? kLogTargetRequest : kTargetRequest, field,
                        PlaceOf(train, "target", "normalize")});
  }
  if (train.balanced)
    requests.push_back({kClassWeightsRequest, field, PlaceOf(train, "loss", "weights")});
  return requests;
}

bool Learns(const TrainRecipe& train) { return train.target.learns || train.balanced; }

Status FillInLearned(const Learned* learned, TrainRecipe& train) {
  if (TargetOptions& target = train.target; target.learns) {
    STOKER_ASSIGN_OR_RETURN(
        const LearnedValue* value,
        FindValue(learned, target.log ? kLogTargetRequest : kTargetRequest, "target", train));
    STOKER_ASSIGN_OR_RETURN(target.mean, NumbersIn(*value, "mean", /*above_zero=*/false));
    STOKER_ASSIGN_OR_RETURN(target.std, NumbersIn(*value, "std", /*above_zero=*/true));
    if (target.mean.size() != target.std.size())
      return DataLoss("what was learned for {}: mean and std are not equally long", value->Name());
  }
  if (!train.balanced) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const LearnedValue* value,
                          FindValue(learned, kClassWeightsRequest, "loss", train));
  STOKER_ASSIGN_OR_RETURN(const std::vector<double> weights,
                          NumbersIn(*value, "weights", /*above_zero=*/true));
  STOKER_ASSIGN_OR_RETURN(
      train.loss, WithWeights(train.loss, *train.written.Find("loss"), WriteOption(weights)));
  return OkStatus();
}

Status CheckIsLearned(const TrainRecipe& train) {
  const bool target = !train.target.learns || !train.target.mean.empty();
  const bool loss = !train.balanced || !WeightsOf(train.loss)->items.empty();
  if (target && loss) return OkStatus();
  return FailedPrecondition(
      "train.{} is to be learned from the training data, and was not: read the whole recipe, or "
      "give numbers",
      target ? "loss" : "target");
}

Status CheckBalancedWeights(const DataRecipe& data, const ModelRegistry::Configured& model,
                            const TrainRecipe& train) {
  const ConfigNode* const classes = model.node.entries.front().value.Find("classes");
  if (!train.balanced || classes == nullptr) return OkStatus();
  int64_t wanted = 0;
  STOKER_RETURN_IF_ERROR(ReadOption(*classes, wanted));
  const int64_t learned = std::ssize(WeightsOf(train.loss)->items);
  if (learned == wanted) return OkStatus();
  if (learned > wanted) {
    return FailedPrecondition(
        "{}: weights: balanced: the labels of the training side go up to {}, and the model {} "
        "tells {} classes apart; set the model's `classes` to {}, or correct the labels",
        train.NameOf("loss"), learned - 1, model.name, wanted, learned);
  }
  const auto names = [&](int64_t c) {
    return c < std::ssize(data.classes)
               ? fmt::format("{} ('{}')", c, data.classes[static_cast<size_t>(c)])
               : fmt::format("{}", c);
  };
  return FailedPrecondition(
      "{}: weights: balanced: the model {} tells {} classes apart, and class {} has no sample on "
      "the training side, so it has no balanced weight; set the model's `classes` to {}, or give "
      "`weights` a number for each class",
      train.NameOf("loss"), model.name, wanted, names(learned), learned);
}

}  // namespace stoker
