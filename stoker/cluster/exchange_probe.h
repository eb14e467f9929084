// How long the ranks of a group take to add up tensors: what a step of a training that exchanges
// gradients cannot fall below.
#pragma once

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"

namespace stoker {

// Of float32 on the CPU; medians.
struct ExchangeRates {
  double small_s = 0;      // for 64 numbers: the latency
  double bytes_per_s = 0;  // of a tensor of 16 MiB, whose bytes count once whatever the world
};

// Takes about so long, and a few exchanges at least. Every rank calls it with the same number, and
// gets what it saw itself. Errors: those of Group.
Result<ExchangeRates> MeasureExchange(Group& group, double seconds);

}  // namespace stoker
