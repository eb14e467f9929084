// Runs a test on each instruction set of this CPU, and makes coefficients for it. Only tests
// include it.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>

#include "stoker/base/random.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"

namespace stoker::jpeg_baseline {

struct TestGroup {
  alignas(64) std::array<int16_t, kGroupValues> values{};
  alignas(16) std::array<int16_t, kBlockValues> divisors{};
};

// Returns values up to `last_place` of the zigzag, of at most this magnitude after multiplication.
inline TestGroup RandomGroup(Rng& rng, int last_place, int magnitude) {
  TestGroup group;
  for (int i = 0; i < kBlockValues; ++i) group.divisors[i] = static_cast<int16_t>(1 + rng.Below(9));
  for (int place = 0; place <= last_place; ++place) {
    const int natural = kZigzagToNatural[place];
    for (int b = 0; b < kGroupBlocks; ++b) {
      const auto range = static_cast<uint64_t>(2 * magnitude / group.divisors[natural] + 1);
      group.values[natural / 8 * kGroupRow + b * 8 + natural % 8] =
          static_cast<int16_t>(static_cast<int>(rng.Below(range)) - static_cast<int>(range / 2));
    }
  }
  return group;
}

}  // namespace stoker::jpeg_baseline
