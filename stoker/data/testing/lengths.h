// Elements of different lengths, for tests of what groups them. Only tests include it.
#pragma once

#include <vector>

#include "stoker/data/nodes/map.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"

namespace stoker {

inline Spec SequenceSpec() {
  return {{{"tokens", DType::kInt64, {kUnknownDim}}, {"label", DType::kInt64, {}}}};
}

// Element i is {tokens: int64[lengths[i]], 100 i, 100 i + 1, ...; label: i}. By position.
inline Dataset Sequences(std::vector<int64_t> lengths) {
  const Array labels = Array::Allocate(DType::kInt64, {std::ssize(lengths)});
  for (size_t i = 0; i < lengths.size(); ++i) labels.values<int64_t>()[i] = static_cast<int64_t>(i);
  return *(*FromArrays({{"label", labels}}) |
           Map{.function =
                   [lengths](Element& element, Rng&, Scratch& scratch) {
                     const int64_t label = element.arrays[0].values<int64_t>()[0];
                     Array tokens =
                         scratch.NewArray(DType::kInt64, {lengths[static_cast<size_t>(label)]});
                     for (int64_t t = 0; t < tokens.num_values(); ++t)
                       tokens.values<int64_t>()[static_cast<size_t>(t)] = 100 * label + t;
                     element.arrays.insert(element.arrays.begin(), std::move(tokens));
                     return OkStatus();
                   },
               .output = SequenceSpec()});
}

// Returns the same elements, readable only in order.
inline Dataset SequenceStream(const std::vector<int64_t>& lengths) {
  const Dataset source = Sequences(lengths);
  return FromGenerator(source.spec(), [source](uint64_t) {
    std::shared_ptr<Iterator> elements = *source.Open(Runtime::Inline());
    return [elements] { return elements->Next(); };
  });
}

}  // namespace stoker
