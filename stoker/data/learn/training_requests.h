// What the section `train` of a recipe learns from the training data, beside the stages.
//
//   train:
//     target: {price: {normalize: auto, log: true}}   # mean and deviation of the target
//     loss: {cross_entropy: {weights: balanced}}      # a weight for each class
//
// The code that reads the section `train` asks for them (run/learned_train.h). Each is an entry of
// the list of stages while the list is learned from, such as {train.target: {field: price}}, so
// that one pass serves stages and targets. No pipeline is built of such an entry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"

namespace stoker {

// LearnedValue::stage of what is learned for `train`. The options are the lists `mean` and `std`,
// of the target or of its logarithm, and the list `weights`.
inline constexpr std::string_view kTargetRequest = "train.target";
inline constexpr std::string_view kLogTargetRequest = "train.target.log";
inline constexpr std::string_view kClassWeightsRequest = "train.loss";

// Returns whether `stage` is one of these, and no operator.
bool IsOfTraining(std::string_view stage);

// Returns whether an item of a list of stages is such an entry.
bool IsEntryOfTraining(const ConfigNode& item);

// Returns the option that asks, as messages name it: "normalize" or "weights".
std::string_view AskingOption(std::string_view stage);

// Returns the names of the fields that `train.target` names: price for `price` and for
// {price: {...}}; label where nothing is named.
std::vector<std::string> TargetsOf(const ConfigNode& recipe);

// A value to learn for `train`.
struct TrainingRequest {
  std::string_view stage;  // one of those above
  std::string field;
  ConfigLocation place;  // of the key that asks, for messages
};

// Returns `list`, the whole training pipeline, with an entry for each of `requests`. The entry
// stands before the first stage that groups samples, and before the stages that work on one other
// field alone, so that no picture is decoded for it.
ConfigNode WithTrainingRequests(std::span<const TrainingRequest> requests, ConfigNode list);

}  // namespace stoker
