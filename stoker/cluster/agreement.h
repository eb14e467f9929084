// What ranks settle among themselves: whether all of them can go on, and what rank 0 has.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"

namespace stoker {

// Returns success on every rank if `mine` is success on every rank. Otherwise an error on every
// rank: the first rank that failed gets its own, and the others "rank 3 failed: ...", so that an
// error is told once, by name; a rank that failed with another error keeps its own.
// kCancelled where all that failed were cancelled. Errors: also those of the group.
Status Agree(Group& group, const Status& mine, std::string_view what);

// Returns the text of rank 0, on every rank.
Result<std::string> TextOfFirst(Group& group, std::string_view text, std::string_view what);

// Returns the greatest of the ranks' numbers, on every rank.
Result<int64_t> GreatestOf(Group& group, int64_t number, std::string_view what);

// Replaces the tensors of each rank by those of rank `root`, which have the same shapes and types.
// They may have any strides, and lie on the CPU.
Status CopyFromRank(Group& group, int64_t root, std::span<const at::Tensor> tensors,
                    std::string_view what);

}  // namespace stoker
