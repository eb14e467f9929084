// What the operators that make batches of consecutive elements have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "stoker/data/dataset.h"
#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"

namespace stoker {

inline constexpr double kMaxBatchSize = 1 << 30;

// DatasetNode::Disturbs of an operator that only makes batches.
inline std::string_view DisturbsWhere(bool drop_remainder) {
  return drop_remainder
             ? "leaves out the elements of a last batch that is not full (drop_remainder)"
             : "";
}

// How many batches of `size` an epoch of `input` makes.
Cardinality BatchedCardinality(const Cardinality& input, int64_t size, bool drop_remainder);

// The first extent of every batch: `size`, or -1 where the last one may be smaller.
int64_t BatchExtent(const Cardinality& input, int64_t size, bool drop_remainder);

// Makes one batch, which is to have `key`, out of its elements.
using MakeBatch = std::function<Result<Element>(std::span<const Element> elements,
                                                const SampleKey& key, Scratch& scratch)>;

// The batches of `node` in order, from an iterator over its input. A batch that cannot be made is a
// failed element where the context is tolerant.
std::unique_ptr<Iterator> BatchesInOrder(const OpenContext& context, const DatasetNode& node,
                                         std::unique_ptr<Iterator> input, int64_t size,
                                         bool drop_remainder, MakeBatch make);

}  // namespace stoker
