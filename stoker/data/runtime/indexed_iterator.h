// The inline runtime's iterator over a dataset that can be read by position: one Read after the
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

// Reads one element; if that fails, or throws, returns a failed element.
Result<Element> ReadTolerantly(const DatasetNode& node, int64_t position,
                               const ReadContext& context);

// Returns the state of a pass by position: the epoch, the number of delivered elements, and the
// delivered ones beyond them. Both runtimes write it.
Json SavePosition(uint64_t epoch, const Delivered& done);

// The inverse of SavePosition. Errors: a position outside 0..cardinality.
Result<Delivered> RestorePosition(const Json& state, const Cardinality& cardinality,
                                  uint64_t& epoch);

}  // namespace stoker
