// ReadSingly: how a stage reads several elements one by one to put them together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/shared_trials.h"

namespace stoker {

// Threads share the reads of a stage that take this long on average.
inline constexpr int64_t kSlowReadNs = 1'000'000;

// Calls read(i, context) for 0 <= i < count, and taken(i) after each that succeeds. The calls of
// `taken` are in order and on the calling thread; after the first error, which this returns, there
// is none.
//
// Where the reads are slow, as those from a server or a busy disk are, the other threads of this
// thread's ReadAhead make some of them (shared_loops.h): what is put together is there in a
// fraction of the time, and more threads help even if there are few batches. `read` is then called
// on any thread, and all elements are held at once. Errors are those of reading in order
// (shared_trials.h), but trouble, such as a server that is away, is counted for `node`.
//
// `node` is the stage that puts the elements together. The reads count as its time.
Status ReadSingly(const DatasetNode& node, int64_t count, const ReadContext& context,
                  const SingleRead& read, const std::function<Status(int64_t)>& taken);

// Does the same with reads that return elements.
Status ReadElementsSingly(
    const DatasetNode& node, int64_t count, const ReadContext& context,
    const std::function<Result<Element>(int64_t i, const ReadContext& context)>& read,
    const std::function<Status(Element)>& take);

// Returns the elements at `positions` of the input of `node`.
Result<std::vector<Element>> ReadInputsSingly(const DatasetNode& node,
                                              std::span<const int64_t> positions,
                                              const ReadContext& context);

}  // namespace stoker
