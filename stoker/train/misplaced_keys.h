// Keys of `train:` that stand where they do not belong: whoever comes from elsewhere looks for the
// learning rate in the optimizer, and for the size of a batch in the training.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// kInvalidArgument at the first key of `section`, the map `train:`, or of its optimizer, that is
// unknown there and is an option elsewhere, with the place where it belongs:
//   r.yaml:3:3: train: unknown key 'lr'; it belongs to the schedule: train: {schedule: {constant:
//   {lr: 0.001}}}
// Of several kinds that have the option the one is spoken of that `section` names. Keys that are
// unknown everywhere are left to CheckKeys.
//   names  those that `train:` itself has
Status CheckNotMisplaced(const ConfigNode& section, const std::vector<std::string>& names);

}  // namespace stoker
