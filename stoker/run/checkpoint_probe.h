// Whether several processes see one directory, before checkpoints are written to it in parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Leaves a mark of `rank` in a directory that rank 0 has made. Errors: kFailedPrecondition, with
// what to do: the directory is not there; those of WriteFileAtomically.
Status WriteProbe(const std::string& directory, int64_t rank);

// Checks on rank 0 that the marks of all ranks are there. Errors: kFailedPrecondition, with the
// rank whose mark is not, and its host.
//   hosts  of the ranks, by rank
Status CheckProbes(const std::string& directory, std::span<const std::string> hosts);

}  // namespace stoker
