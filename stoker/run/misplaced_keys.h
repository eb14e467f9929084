// Detects misplaced keys of `train:`: users of other frameworks set the learning rate in the
// optimizer, and the size of a batch in the training.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// Removes from `section`, the map `train:`, and from its optimizer the keys that are unknown there
// and are options elsewhere. Returns kInvalidArgument for all of them (problems.h), each with its
// right place:
//   r.yaml:3:3: train: unknown key 'lr'; it belongs to the schedule: train: {schedule: {constant:
//   {lr: 0.001}}}
// If several kinds have the option, the message names the one in `section`. Keys that are unknown
// everywhere stay, for CheckKeys.
//   names  the keys of `train:` itself
Status TakeOutMisplaced(ConfigNode& section, const std::vector<std::string>& names);

}  // namespace stoker
