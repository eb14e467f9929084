#include "stoker/run/learned_train.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/data/learn/training_requests.h"

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

std::vector<double> NumbersIn(const LearnedValue& value, const char* option) {
  std::vector<double> numbers;
  for (const Json& number : value.options.value(option, Json::array()))
    numbers.push_back(number.get<double>());
  return numbers;
}

}  // namespace

bool Learns(const TrainRecipe& train) { return train.target.learns; }

Status FillInLearned(const Learned* learned, TrainRecipe& train) {
  if (TargetOptions& target = train.target; target.learns) {
    STOKER_ASSIGN_OR_RETURN(
        const LearnedValue* value,
        FindValue(learned, target.log ? kLogTargetRequest : kTargetRequest, "target", train));
    target.mean = NumbersIn(*value, "mean");
    target.std = NumbersIn(*value, "std");
  }
  return OkStatus();
}

Status CheckIsLearned(const TrainRecipe& train) {
  if (!train.target.learns || !train.target.mean.empty()) return OkStatus();
  return FailedPrecondition(
      "train.target is to be learned from the training data, and was not: read the whole recipe, or "
      "give numbers");
}

}  // namespace stoker
