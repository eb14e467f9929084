// How one of several ranks gets its share of a pass that is read in order (PassOptions::world).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The outermost elements of the whole pass are dealt out in rounds: element r of each round of
// `world` is rank r's. Where they are groups of elements of a stage below (DatasetNode::grouping),
// it is those that are dealt out, in blocks, so that a rank makes only its own batches. The stages
// above the dealt one are the chain; they are opened as in any pass, on the rank's elements alone.
//
// One Deal serves one opened pass. The stage that is dealt out writes to it from whatever thread
// pulls it, the rank's outermost iterator reads it. Thread-safe.
class Deal {
 public:
  // Where a pass begins: at its start, or at a restored position.
  struct Start {
    std::optional<Json> dealt_state;  // of the dealt stage; nothing: the start
    // For the groups of each grouping stage of the chain that numbers what it makes, outermost
    // first: how many there were before.
    std::vector<int64_t> numbers;
    std::optional<uint64_t> epoch = {};  // of the saved pass, where the chain says it
  };

  // Errors: a round that is larger than 64 bits can count.
  static Result<std::shared_ptr<Deal>> Create(const Dataset& outermost, const PassOptions& options,
                                              Start start);

  // The stage whose elements are dealt out.
  const DatasetNode& dealt() const { return *dealt_; }
  const Start& start() const { return start_; }
  int64_t block() const { return block_; }
  int64_t round() const { return block_ * options_.world; }
  WhenDry when_dry() const { return options_.when_dry; }
  // Whether element `i` of the dealt stage, counted from the start, is this rank's.
  bool IsMine(int64_t i) const { return i / block_ % options_.world == options_.rank; }
  // Whether each rank has something in a round of `elements`.
  bool IsWhole(int64_t elements) const { return elements >= round() - block_ + needed_; }

  // The number, counted from the start, of this rank's outermost element `local`.
  int64_t NumberInRounds(int64_t local) const { return local * options_.world + options_.rank; }
  // The number in the whole pass of element `local`, from 0, that `node` of the chain makes here.
  int64_t NumberInPass(const DatasetNode& node, int64_t local) const;
  // Start::numbers and Start::dealt_state of a pass that begins after `elements` outermost ones of
  // this rank. Where `finished`, nothing comes any more.
  Start StartAfter(int64_t elements, bool finished) const;
  // Of the stages that Start::numbers is about, how many elements of its input each groups.
  const std::vector<int64_t>& group_sizes() const { return group_sizes_; }

  // --- Told by the dealt stage ---
  // Its state before element `pulled`.
  void AddState(int64_t pulled, Json state);
  void SetEnd(int64_t pulled) { end_ = pulled; }
  // --- Told by the outermost iterator ---
  void SetDelivered(int64_t elements) { delivered_ = elements; }
  // The rounds in which some rank has something, once the end has been found.
  int64_t Rounds() const;

 private:
  struct State {
    int64_t pulled;
    Json state;
  };
  // Of the chain, a stage that numbers its groups.
  struct Level {
    const DatasetNode* node;
    int64_t block;  // of its elements, those that make one outermost element
  };

  Deal(const PassOptions& options, Start start) : options_(options), start_(std::move(start)) {}

  const PassOptions options_;
  Start start_;  // not changed after Create
  const DatasetNode* dealt_ = nullptr;
  int64_t block_ = 1;   // of the dealt elements, those that make one outermost element
  int64_t needed_ = 1;  // the fewest of them that do
  std::vector<Level> levels_;
  std::vector<int64_t> group_sizes_;  // of levels_

  std::atomic<int64_t> delivered_{0};
  std::atomic<int64_t> end_{-1};  // elements of the dealt stage; -1: not found yet
  mutable std::mutex mutex_;      // guards states_
  std::deque<State> states_;      // oldest first; the first is not ahead of what has been delivered
};

// The rank's elements of the dealt stage, from an iterator over all of them.
Result<std::unique_ptr<Iterator>> OpenDealt(const OpenContext& context, std::shared_ptr<Deal> deal,
                                            const Dataset& dealt);

}  // namespace stoker
