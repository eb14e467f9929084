// Operators whose `seed` option fixes their draws.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "stoker/data/core/transform.h"

namespace stoker {

// Returns the random stream of such a stage: from `own` if set, else from the pass's seed. With its
// own seed the draws are the same at any place of any pipeline (balance reads its input in a
// separate pass beforehand), so the stage's number is not part of their key.
inline RngFactory DrawsOf(const std::optional<int64_t>& own, const RngFactory& of_the_pass) {
  constexpr uint64_t kNoStage = std::numeric_limits<uint64_t>::max();
  return own ? RngFactory{static_cast<uint64_t>(*own), kNoStage} : of_the_pass;
}

}  // namespace stoker
