// Deals the elements of a pass that is read in order out to ranks (PassOptions::world).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The outermost elements of the whole pass are dealt out in rounds: element r of each round of
// `world` is rank r's. If they are groups of elements of an earlier stage (DatasetNode::grouping),
// that stage's elements are dealt out in blocks, so that a rank makes only its own batches. The
// stages that follow the dealt one are the chain; they are opened as in any pass, on the rank's
// elements only.
//
// One Deal serves one opened pass. The dealt stage writes to it from the thread that pulls it, the
// rank's outermost iterator reads it. Thread-safe.
class Deal {
 public:
  // Where a pass begins: at its start, or at a restored position.
  struct Start {
    std::optional<Json> dealt_state;  // of the dealt stage; nothing: the start
    // For each grouping stage of the chain that numbers its groups, outermost first: the number of
    // earlier groups.
    std::vector<int64_t> numbers;
    std::optional<uint64_t> epoch = {};  // of the saved pass, if the chain has it
  };

  // Errors: a round exceeds 64 bits.
  static Result<std::shared_ptr<Deal>> Create(const Dataset& outermost, const PassOptions& options,
                                              Start start);

  // Returns the stage whose elements are dealt out.
  const DatasetNode& dealt() const { return *dealt_; }
  const Start& start() const { return start_; }
  int64_t block() const { return block_; }
  int64_t round() const { return block_ * options_.world; }
  WhenDry when_dry() const { return options_.when_dry; }
  // Returns whether element `i` of the dealt stage, counted from the start, is this rank's.
  bool IsMine(int64_t i) const { return i / block_ % options_.world == options_.rank; }
  // Returns whether each rank has an element in a round of `elements`.
  bool IsWhole(int64_t elements) const { return elements >= round() - block_ + needed_; }

  // Returns the number, counted from the start, of this rank's outermost element `local`.
  int64_t NumberInRounds(int64_t local) const { return local * options_.world + options_.rank; }
  // Returns the number in the whole pass of element `local`, from 0, that `node` of the chain makes
  // here.
  int64_t NumberInPass(const DatasetNode& node, int64_t local) const;
  // Returns the Start of a pass that begins after `elements` outermost ones of this rank. If
  // `finished`, nothing follows.
  Start StartAfter(int64_t elements, bool finished) const;
  // Returns, for the stages in Start::numbers, how many elements of its input each groups.
  const std::vector<int64_t>& group_sizes() const { return group_sizes_; }

  // --- Called by the dealt stage --- Adds its state before element `pulled`.
  void AddState(int64_t pulled, Json state);
  void SetEnd(int64_t pulled) { end_ = pulled; }
  // --- Called by the outermost iterator ---
  void SetDelivered(int64_t elements) { delivered_ = elements; }
  // Returns the rounds in which any rank has an element, once the end is known.
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
  int64_t needed_ = 1;  // the fewest of them that suffice
  std::vector<Level> levels_;
  std::vector<int64_t> group_sizes_;  // of levels_

  std::atomic<int64_t> delivered_{0};
  std::atomic<int64_t> end_{-1};  // elements of the dealt stage; -1: unknown yet
  mutable Mutex mutex_;
  // Oldest first; the first is not ahead of the delivered elements.
  std::deque<State> states_ STOKER_GUARDED_BY(mutex_);
};

// Opens the rank's elements of the dealt stage, given an iterator over all of them.
Result<std::unique_ptr<Iterator>> OpenDealt(const OpenContext& context, std::shared_ptr<Deal> deal,
                                            const Dataset& dealt);

}  // namespace stoker
