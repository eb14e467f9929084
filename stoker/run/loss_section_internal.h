// The key train.loss of a recipe, whose weights of classes may be learned.
#pragma once

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Reads the loss. `weights: balanced` of a loss that has weights of classes is read as no weights,
// and sets `balanced`: WithWeights puts them in once they are learned.
Result<LossRegistry::Configured> ParseLoss(const ConfigNode& node, bool& balanced);

// Returns the weights of classes among the options of a loss; null if it has none.
const ConfigNode* WeightsOf(const LossRegistry::Configured& loss);

// Returns the loss with these weights.
//   written  as ParseLoss has read it, for the places in messages
Result<LossRegistry::Configured> WithWeights(const LossRegistry::Configured& loss,
                                             const ConfigNode& written, ConfigNode weights);

// Returns the loss as a recipe has it, every option filled in.
ConfigNode FilledLoss(const LossRegistry::Configured& loss, bool balanced);

}  // namespace stoker
