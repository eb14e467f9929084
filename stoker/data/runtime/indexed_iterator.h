// The inline runtime's way through a dataset that can be read by position: one Read after the
// other.
#pragma once

#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/delivered.h"
#include "stoker/data/runtime/failure_tally.h"

namespace stoker {

class IndexedIterator final : public Iterator {
 public:
  IndexedIterator(const OpenContext& context, const DatasetNode& node);

 private:
  Result<std::optional<Element>> DoNext() override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  const DatasetNode& node_;
  const std::shared_ptr<const StopFlag> stop_;
  const bool tolerant_;
  uint64_t epoch_;
  Delivered done_;
  FailureTally tally_;
};

// Reads one element; where that fails, or throws, gives the element that stands for it.
Result<Element> ReadTolerantly(const DatasetNode& node, int64_t position,
                               const ReadContext& context);

// The state of a pass by position: the epoch, the number of elements that are done, and which
// beyond them are. Both runtimes write it.
Json SavePosition(uint64_t epoch, const Delivered& done);

// Reads it back. Errors: a position outside 0..cardinality.
Result<Delivered> RestorePosition(const Json& state, const Cardinality& cardinality,
                                  uint64_t& epoch);

}  // namespace stoker
