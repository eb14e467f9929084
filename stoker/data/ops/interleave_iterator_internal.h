// How interleave goes through its inputs in order.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/doorbell.h"

namespace stoker {

// What an iterator needs to know of the node.
class InterleavedNode : public DatasetNode {
 public:
  using DatasetNode::DatasetNode;
  struct Cycle {
    int64_t length;
    int64_t block;
    bool parallel;
    bool deterministic;
  };
  virtual Cycle cycle() const = 0;
  // Whether the inputs are the node's own; else its only input's elements become them, with Make.
  virtual bool listed() const = 0;
  virtual Result<Dataset> Make(const Element& element) const = 0;
};

// The inputs one after the other, and where that stands.
class InterleavedInputs {
 public:
  InterleavedInputs(const OpenContext& context, const InterleavedNode& node)
      : context_(context), node_(node) {}
  Status Open();

  // An input that is to be opened; `before` is the state from which it comes next.
  struct Pulled {
    int64_t ordinal;
    Json before;
    std::optional<Element> element;  // that it is made from
  };
  Result<std::optional<Pulled>> Pull();
  Result<std::unique_ptr<Iterator>> OpenInput(const Pulled& pulled) const;
  // The key of an element of that input: never that of another.
  Result<SampleKey> KeyOf(const Pulled& pulled, const SampleKey& key) const;

  int64_t next() const { return next_; }  // the ordinal that Pull gives next
  Result<Json> Save() const;
  Status Restore(const Json& state);

 private:
  OpenContext context_;
  const InterleavedNode& node_;
  std::unique_ptr<Iterator> source_;  // where they are not listed
  int64_t next_ = 0;
};

class InterleaveIterator final : public Iterator {
 public:
  InterleaveIterator(const OpenContext& context, const InterleavedNode& node);
  ~InterleaveIterator() override { inside_->Raise(); }
  Status Open() { return inputs_.Open(); }

 private:
  struct Input {
    InterleavedInputs::Pulled pulled;
    std::unique_ptr<Iterator> iterator;
  };

  Result<std::optional<Element>> DoNext() override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  // Errors show when it is the input's turn, so that what comes before is delivered.
  struct Waiting {
    InterleavedInputs::Pulled pulled;
    Result<std::unique_ptr<Iterator>> iterator;
  };

  // Opens inputs until enough of them wait, or there are no more.
  void OpenAhead();
  Result<std::unique_ptr<Iterator>> OpenInput(const InterleavedInputs::Pulled& pulled) const;
  // Gives an empty place the next input; false where there is none.
  Result<bool> FillPlace(size_t place);
  void EmptyPlace(size_t place);
  // Whether places that are empty stay so.
  bool NothingWaits() const { return all_pulled_ && waiting_.empty(); }
  void EndTurn();
  // Makes it the turn of a place whose input has something, waiting for one if need be.
  Status TakeReadyTurn();
  // Of the places from the one whose turn it is on.
  std::optional<size_t> FirstReadyPlace() const;

  const InterleavedNode& node_;
  const InterleavedNode::Cycle cycle_;
  const size_t ahead_;  // inputs that read while they wait for a place
  // Rung by the inputs where they take turns as they have something; else null.
  const std::shared_ptr<Doorbell> doorbell_;
  const std::shared_ptr<StopFlag> inside_;
  InterleavedInputs inputs_;
  std::deque<Waiting> waiting_;
  Status pull_error_;        // after those that wait
  bool all_pulled_ = false;  // those that wait are the last
  std::vector<std::optional<Input>> places_;
  std::set<size_t> filled_;  // those of places_ that have an input
  size_t turn_ = 0;          // the place whose turn it is
  int64_t in_block_ = 0;     // elements that it has given in this turn
};

}  // namespace stoker
