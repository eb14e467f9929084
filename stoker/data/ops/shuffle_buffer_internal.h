// The shuffle of an input that can only be read in order.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/data/core/dataset.h"

namespace stoker {

struct ShuffleBufferOptions {
  int64_t size = 1;             // elements to draw from
  bool automatic = false;       // the user has not chosen the size
  std::optional<int64_t> seed;  // nothing: the pass's
  bool reshuffle = true;        // false: every epoch has the order of epoch 0
};

// Returns the elements of `input` in an order drawn from a buffer (shuffle.h,
// buffer_draws_internal.h).
Dataset ShuffleBufferDataset(Dataset input, const ShuffleBufferOptions& options);

}  // namespace stoker
