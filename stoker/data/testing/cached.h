// Shared by the tests of cache and snapshot. Only tests include it.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"
#include "stoker/data/testing/testing.h"

namespace stoker {

// Counts its calls; returns images of another value.
inline Map Costly(std::atomic<int>& calls) {
  return {.function =
              [&calls](Element& element, Rng&, Scratch& scratch) {
                ++calls;
                Array to = scratch.NewArray(DType::kUInt8, element.arrays[0].shape());
                for (size_t i = 0; i < to.num_bytes(); ++i)
                  to.values<uint8_t>()[i] =
                      static_cast<uint8_t>(255 - element.arrays[0].values<uint8_t>()[i]);
                element.arrays[0] = std::move(to);
                return OkStatus();
              },
          .random = false};
}

// Images that differ in width.
inline Map Ragged(std::atomic<int>& calls) {
  return {.function =
              [&calls](Element& element, Rng&, Scratch& scratch) {
                ++calls;
                Array to = scratch.NewArray(DType::kUInt8, {1, 4, element.key.index % 5});
                std::ranges::fill(to.values<uint8_t>(), static_cast<uint8_t>(element.key.index));
                element.arrays[0] = std::move(to);
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {1, 4, kUnknownDim}}, {"label", DType::kInt64, {}}}},
          .random = false};
}

// Three epochs with random draws for each element after the cache.
inline Result<Dataset> Epochs(Result<Dataset> input) {
  if (!input.ok()) return input;
  const bool shuffled = input->node().random_access();
  if (shuffled) input = std::move(input) | Shuffle{};
  if (input->spec().ElementBytes()) input = std::move(input) | AddNoise() | Batch{.size = 7};
  return std::move(input) | Repeat{.count = 3} | Prefetch{};
}

// The same pipelines with a cache and without, over sources of both kinds and elements of both.
struct Case {
  std::string name;
  std::function<Result<Dataset>(std::atomic<int>&)> before;
};
inline std::vector<Case> Cases() {
  return {
      {"by position", [](auto& calls) { return NumberedImages(60) | Costly(calls); }},
      {"in order", [](auto& calls) { return StreamedImages(60) | Costly(calls); }},
      {"ragged, by position", [](auto& calls) { return NumberedImages(60) | Ragged(calls); }},
      {"ragged, in order", [](auto& calls) { return StreamedImages(60) | Ragged(calls); }},
  };
}

}  // namespace stoker
