// What the section `train` of a recipe has learned from the training data
// (data/learn/training_requests.h), put into it.
#pragma once

#include <vector>

#include "stoker/data/learn/learned.h"
#include "stoker/data/learn/training_requests.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Returns whether `train` asks for something that is learned, and what.
bool Learns(const TrainRecipe& train);
std::vector<TrainingRequest> RequestsOf(const TrainRecipe& train);

// Sets the mean and std of a target that is normalized by `auto`, and the weights of a loss that
// are `balanced`.
//   learned  may be null where `train` asks for nothing
// Errors: kInvalidArgument, with the place of the key, if something was not learned.
Status FillInLearned(const Learned* learned, TrainRecipe& train);

// Checks that FillInLearned has put in what `train` asks for. Errors: kFailedPrecondition.
Status CheckIsLearned(const TrainRecipe& train);

// Checks that balanced weights are as many as the classes of `model`, where it says how many it
// has. Errors: kFailedPrecondition: which class has no sample, or that the model lacks one.
Status CheckBalancedWeights(const DataRecipe& data, const ModelRegistry::Configured& model,
                            const TrainRecipe& train);

}  // namespace stoker
