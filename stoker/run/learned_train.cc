#include "stoker/run/learned_train.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/run/loss_section_internal.h"

namespace stoker {
namespace {

// What is learned for one target, where the section has it.
//   Transform, Loss  as in a TrainRecipe, const or not
template <typename Transform, typename Loss>
struct LearningTarget {
  const std::string& field;
  Transform& transform;
  Loss& loss;
  bool balanced;
  const ConfigNode* written;       // its options under train.target; null: none
  const ConfigNode* written_loss;  // null: none
  const char* loss_key;            // of train, in messages
};

template <typename Train>
auto LearningTargets(Train& train) {
  using Target = LearningTarget<std::remove_reference_t<decltype((train.target))>,
                                std::remove_reference_t<decltype((train.loss))>>;
  const ConfigNode* const target = train.written.Find("target");
  const auto options = [&](const std::string& field) -> const ConfigNode* {
    const bool has_options = target != nullptr && target->kind == ConfigNode::Kind::kMap;
    return has_options ? target->Find(field) : nullptr;
  };
  std::vector<Target> all;
  if (train.targets.empty()) {
    const std::string& field = train.options.target;
    all.push_back(Target{field, train.target, train.loss, train.balanced, options(field),
                         train.written.Find("loss"), "loss"});
  }
  for (auto& each : train.targets) {
    const ConfigNode* const written = options(each.field);
    all.push_back(Target{each.field, each.transform, each.loss, each.balanced, written,
                         written == nullptr ? nullptr : written->Find("loss"), "target"});
  }
  return all;
}

Result<const LearnedValue*> FindValue(const Learned* learned, std::string_view stage,
                                      std::string_view key, const std::string& field,
                                      const TrainRecipe& train) {
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

// Of an option of `node`, else of the node; of null none.
ConfigLocation PlaceOf(const ConfigNode* node, const char* option) {
  if (node == nullptr) return {};
  const ConfigNode* const written = node->Find(option);
  return written == nullptr ? node->location : written->location;
}

// Of the option of the one loss that `node` names.
ConfigLocation PlaceOfLoss(const ConfigNode* node, const char* option) {
  const bool has_options = node != nullptr && node->entries.size() == 1;
  return has_options ? PlaceOf(&node->entries.front().value, option) : PlaceOf(node, option);
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

// Where the weights of a loss are learned, and for how many classes.
struct BalancedLoss {
  std::string key;      // in messages
  std::string classes;  // what says how many classes there are, likewise
  int64_t weights = 0;
  int64_t wanted = 0;
};

Status CheckBalanced(const BalancedLoss& loss, const std::vector<std::string>& names) {
  if (loss.weights == loss.wanted) return OkStatus();
  if (loss.weights > loss.wanted) {
    return FailedPrecondition(
        "{0}: weights: balanced: the labels of the training side go up to {1}, and {2} is {3}; set "
        "{2} to {4}, or correct the labels",
        loss.key, loss.weights - 1, loss.classes, loss.wanted, loss.weights);
  }
  const auto missing = static_cast<size_t>(loss.weights);
  return FailedPrecondition(
      "{0}: weights: balanced: {1} is {2}, and class {3} has no sample on the training side, so it "
      "has no balanced weight; set {1} to {4}, or give `weights` a number for each class",
      loss.key, loss.classes, loss.wanted,
      missing < names.size() ? fmt::format("{} ('{}')", missing, names[missing])
                             : std::to_string(missing),
      loss.weights);
}

}  // namespace

std::vector<TrainingRequest> RequestsOf(const TrainRecipe& train) {
  std::vector<TrainingRequest> requests;
  for (const auto& target : LearningTargets(train)) {
    if (target.transform.learns) {
      requests.push_back({target.transform.log ? kLogTargetRequest : kTargetRequest, target.field,
                          PlaceOf(target.written, "normalize")});
    }
    if (target.balanced)
      requests.push_back(
          {kClassWeightsRequest, target.field, PlaceOfLoss(target.written_loss, "weights")});
  }
  return requests;
}

bool Learns(const TrainRecipe& train) { return !RequestsOf(train).empty(); }

Status FillInLearned(const Learned* learned, TrainRecipe& train) {
  for (const auto& target : LearningTargets(train)) {
    TargetOptions& transform = target.transform;
    if (transform.learns) {
      STOKER_ASSIGN_OR_RETURN(const LearnedValue* value,
                              FindValue(learned, transform.log ? kLogTargetRequest : kTargetRequest,
                                        "target", target.field, train));
      STOKER_ASSIGN_OR_RETURN(transform.mean, NumbersIn(*value, "mean", /*above_zero=*/false));
      STOKER_ASSIGN_OR_RETURN(transform.std, NumbersIn(*value, "std", /*above_zero=*/true));
      if (transform.mean.size() != transform.std.size())
        return DataLoss("what was learned for {}: mean and std are not equally long",
                        value->Name());
    }
    if (!target.balanced) continue;
    STOKER_ASSIGN_OR_RETURN(
        const LearnedValue* value,
        FindValue(learned, kClassWeightsRequest, target.loss_key, target.field, train));
    STOKER_ASSIGN_OR_RETURN(const std::vector<double> weights,
                            NumbersIn(*value, "weights", /*above_zero=*/true));
    STOKER_ASSIGN_OR_RETURN(target.loss,
                            WithWeights(target.loss, *target.written_loss, WriteOption(weights)));
  }
  return OkStatus();
}

Status CheckIsLearned(const TrainRecipe& train) {
  for (const auto& target : LearningTargets(train)) {
    const bool transform = !target.transform.learns || !target.transform.mean.empty();
    const bool loss = !target.balanced || !WeightsOf(target.loss)->items.empty();
    if (transform && loss) continue;
    return FailedPrecondition(
        "train.{} is to be learned from the training data, and was not: read the whole recipe, or "
        "give numbers",
        transform ? target.loss_key : "target");
  }
  return OkStatus();
}

Status CheckBalancedWeights(const DataRecipe& data, const ModelRegistry::Configured& model,
                            const TrainRecipe& train) {
  for (const TargetRecipe& target : train.targets) {
    if (!target.balanced) continue;
    STOKER_RETURN_IF_ERROR(CheckBalanced({.key = train.NameOf("target"),
                                          .classes = fmt::format("`outputs` of '{}'", target.field),
                                          .weights = std::ssize(WeightsOf(target.loss)->items),
                                          .wanted = target.outputs},
                                         target.classes));
  }
  const ConfigNode* const classes = model.node.entries.front().value.Find("classes");
  if (!train.targets.empty() || !train.balanced || classes == nullptr) return OkStatus();
  BalancedLoss loss{.key = train.NameOf("loss"),
                    .classes = std::string("the model's `classes`"),
                    .weights = std::ssize(WeightsOf(train.loss)->items)};
  STOKER_RETURN_IF_ERROR(ReadOption(*classes, loss.wanted));
  return CheckBalanced(loss, data.classes);
}

}  // namespace stoker
