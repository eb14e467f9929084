// The in-order iterator of interleave.
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

// The node as its iterator sees it.
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
  // Returns whether the inputs are the node's own; else Make makes them from the elements of its
  // only input.
  virtual bool listed() const = 0;
  virtual Result<Dataset> Make(const Element& element) const = 0;
};

// Produces the inputs one by one, with a position that can be saved.
class InterleavedInputs {
 public:
  InterleavedInputs(const OpenContext& context, const InterleavedNode& node)
      : context_(context), node_(node) {}
  Status Open();

  // An input to be opened; `before` is the state from which it comes next.
  struct Pulled {
    int64_t ordinal;
    Json before;
    std::optional<Element> element;  // the element it is made from
  };
  Result<std::optional<Pulled>> Pull();
  Result<std::unique_ptr<Iterator>> OpenInput(const Pulled& pulled) const;
  // Returns the key of an element of that input, unique among all inputs.
  Result<SampleKey> KeyOf(const Pulled& pulled, const SampleKey& key) const;

  int64_t next() const { return next_; }  // the ordinal of the next Pull
  Result<Json> Save() const;
  Status Restore(const Json& state);

 private:
  OpenContext context_;
  const InterleavedNode& node_;
  std::unique_ptr<Iterator> source_;  // if they are not listed
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

  // Errors are returned at the input's turn, after all earlier elements.
  struct Waiting {
    InterleavedInputs::Pulled pulled;
    Result<std::unique_ptr<Iterator>> iterator;
  };

  // Opens inputs until enough of them wait, or there are no more.
  void OpenAhead();
  Result<std::unique_ptr<Iterator>> OpenInput(const InterleavedInputs::Pulled& pulled) const;
  // Gives an empty place the next input; returns false if there is none.
  Result<bool> FillPlace(size_t place);
  void EmptyPlace(size_t place);
  // Returns whether empty places stay empty.
  bool NothingWaits() const { return all_pulled_ && waiting_.empty(); }
  void EndTurn();
  // Passes the turn to a place whose input has an element ready; waits for one if necessary.
  Status TakeReadyTurn();
  // Returns the first ready place, searching from the current one.
  std::optional<size_t> FirstReadyPlace() const;

  const InterleavedNode& node_;
  const InterleavedNode::Cycle cycle_;
  const size_t ahead_;  // inputs that read while they wait for a place
  // Rung by the inputs if turns depend on readiness; else null.
  const std::shared_ptr<Doorbell> doorbell_;
  const std::shared_ptr<StopFlag> inside_;
  InterleavedInputs inputs_;
  std::deque<Waiting> waiting_;
  Status pull_error_;        // returned after the waiting inputs
  bool all_pulled_ = false;  // the waiting inputs are the last
  std::vector<std::optional<Input>> places_;
  std::set<size_t> filled_;  // indices of places_ that have an input
  size_t turn_ = 0;          // the place whose turn it is
  int64_t in_block_ = 0;     // elements taken from it in this turn
};

}  // namespace stoker
