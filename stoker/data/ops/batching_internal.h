// Shared by the operators that make batches of consecutive elements.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/groups_elements.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

inline constexpr double kMaxBatchSize = 1 << 30;

// Returns how many batches of `size` an epoch of `input` makes.
Cardinality BatchedCardinality(const Cardinality& input, int64_t size, bool drop_remainder);

// The first extent of every batch: `size`, or -1 if the last one may be smaller.
int64_t BatchExtent(const Cardinality& input, int64_t size, bool drop_remainder);

// A batch is `size` consecutive elements of the input; its number is its position.
class FixedBatchNode : public DatasetNode, public GroupsElements {
 public:
  FixedBatchNode(std::string_view name, Spec spec, Dataset input, int64_t size,
                 bool drop_remainder);

  // Returns "size 128, drop_remainder"
  std::string Details() const override;
  std::string_view Disturbs() const final;
  bool fixed_order() const final { return input().node().fixed_order(); }
  bool random_access() const final { return input().node().random_access(); }
  // Read in order, a batch's number does not identify its elements.
  bool rereadable() const final { return random_access(); }
  bool tolerates_errors() const final { return true; }
  Grouping grouping() const final {
    return {.size = size_, .full = drop_remainder_, .numbered = true};
  }

 protected:
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const final;

  int64_t size() const { return size_; }
  bool drop_remainder() const { return drop_remainder_; }
  // By position, batch `position` has the input's elements first .. first + count - 1.
  int64_t FirstOf(int64_t position) const { return position * size_; }
  int64_t CountOf(int64_t position) const;

 private:
  const int64_t size_;
  const bool drop_remainder_;
};

// Makes one batch with key `key` from its elements.
using MakeBatch = std::function<Result<Element>(std::span<const Element> elements,
                                                const SampleKey& key, Scratch& scratch)>;

// Returns an iterator over the batches of `node` in order. A batch that cannot be made is a failed
// element if the context is tolerant.
std::unique_ptr<Iterator> BatchesInOrder(const OpenContext& context, const FixedBatchNode& node,
                                         std::unique_ptr<Iterator> input, MakeBatch make);

}  // namespace stoker
