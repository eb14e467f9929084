// `stoker train` as one of several processes that train one run together.
#pragma once

#include <memory>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Meets the other processes that the launcher has started, if there are any; null: this process
// trains alone. Where one of them is lost or fails, Interrupted() becomes true on the others, and a
// process that takes no notice is ended. Errors: those of FindMembership and JoinGroup.
Result<std::shared_ptr<Group>> JoinRanks(const DistributedOptions& options);

// Checks that all ranks train the same: version, whether a run is resumed, recipe and data files,
// which may stand elsewhere (data.root). What differs from rank 0 is named by key and rank. Every
// rank calls it. Errors: kInvalidArgument; those of the data's files and of Group.
Status CheckAlike(Group& group, const Recipe& recipe, bool resume);

// Makes a signal that ended all ranks that of this process, if it got none itself: for its exit
// code. Every rank calls it. Errors: those of Group.
Status ShareInterrupt(Group& group);

}  // namespace stoker
