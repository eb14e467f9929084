// Keys of `train:` that stand where they do not belong: whoever comes from elsewhere looks for the
// learning rate in the optimizer, and for the size of a batch in the training.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// Takes the keys out of `section`, the map `train:`, and out of its optimizer, that are unknown
// there and are options elsewhere. Returns kInvalidArgument for all of them (problems.h), each with
// the place where it belongs:
//   r.yaml:3:3: train: unknown key 'lr'; it belongs to the schedule: train: {schedule: {constant:
//   {lr: 0.001}}}
// Of several kinds that have the option the message names the one that `section` names. Keys that
// are unknown everywhere stay, for CheckKeys.
//   names  those that `train:` itself has
Status TakeOutMisplaced(ConfigNode& section, const std::vector<std::string>& names);

}  // namespace stoker
