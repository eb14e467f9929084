// Operators whose `seed` option fixes their draws.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "stoker/data/core/transform.h"

namespace stoker {

// What such a stage draws from: `own`, where it is set, else the pass's. With a seed of its own the
// draws are the same wherever it stands, in the pass or in another pipeline (balance reads its
// input in a pass of its own beforehand), so they are not keyed by the stage's number.
inline RngFactory DrawsOf(const std::optional<int64_t>& own, const RngFactory& of_the_pass) {
  constexpr uint64_t kNoStage = std::numeric_limits<uint64_t>::max();
  return own ? RngFactory{static_cast<uint64_t>(*own), kNoStage} : of_the_pass;
}

}  // namespace stoker
