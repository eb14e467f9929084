// Maps each position of a mixture to one of several inputs and a position in it, so that a mixture
// can be read by position.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/kept_orders.h"
#include "stoker/data/ops/combine_internal.h"

namespace stoker {

// What happens if the chosen input has no more elements.
enum class WhenExhausted {
  kStop,      // the mixture ends
  kContinue,  // that input is skipped from then on; the mixture ends with the last of them
  kRepeat,    // that input begins again; the mixture ends when each has been read whole
};

// A sequence of runs. A run repeats one block of choices; a shuffled run has the choices of the
// block in an order that (seed, epoch) decide, the same in each block. So an input has exactly the
// same share of every block, and positions need no counting.
class ChoicePlan {
 public:
  // Choices in the proportion of `weights` (more than 0, one for each input), in random order.
  // `lengths`: of the inputs; if one is unknown, the plan is endless, and the reader detects the
  // end of an input.
  static ChoicePlan Weighted(const std::vector<double>& weights,
                             const std::vector<Cardinality>& lengths, WhenExhausted policy);
  // Repeats the choices of `pattern` (inputs' numbers); kStop or kContinue.
  static ChoicePlan Pattern(const std::vector<int64_t>& pattern,
                            const std::vector<Cardinality>& lengths, WhenExhausted policy);

  // Takes turns like interleave (ops/interleave.h): `places` inputs in the cycle, `turn` elements
  // each. All lengths are known or infinite. Nothing if the plan would have more than a million
  // choices in its blocks.
  static std::optional<ChoicePlan> Turns(const std::vector<Cardinality>& lengths, int64_t places,
                                         int64_t turn);

  Cardinality length() const { return length_; }
  // Returns how many elements of `input` the whole plan takes. REQUIRES: the plan is not endless.
  int64_t TakenOf(size_t input) const;

  // The plan with its blocks in the order of one (seed, epoch); 8 bytes for each choice of a block.
  class Ordered {
   public:
    // Returns the input and its position; 0 <= position < length.
    Place At(int64_t position) const;

   private:
    friend class ChoicePlan;
    struct Slot {
      int32_t input;
      int32_t rank;  // among the slots of the block with that input
    };
    const ChoicePlan* plan_ = nullptr;
    std::vector<std::vector<Slot>> runs_;
  };
  // Returns the plan in the order of `key`. The plan must outlive the result.
  std::shared_ptr<const Ordered> Order(const OrderKey& key) const;
  // Returns the approximate bytes of an Ordered.
  int64_t OrderBytes() const;
  // Returns whether the order depends on the key.
  bool shuffled() const;

 private:
  struct Run {
    int64_t begin;               // position of its first choice
    std::vector<int32_t> block;  // the inputs' numbers
    bool shuffled;
    std::vector<int64_t> share;   // of each input in a block
    std::vector<int64_t> before;  // elements of each input that earlier runs take
  };
  explicit ChoicePlan(size_t inputs) : taken_(inputs, 0) {}
  // Appends a run of `length` choices (whole blocks if shuffled).
  void AddRun(std::vector<int32_t> block, bool shuffled, int64_t length);
  // Appends whole blocks of `share` choices of each input, then one more with `rest` of each.
  void AddShares(const std::vector<int64_t>& share, int64_t blocks,
                 const std::vector<int64_t>& rest);

  std::vector<Run> runs_;
  Cardinality length_ = Cardinality::Of(0);
  std::vector<int64_t> taken_;
};

// The orders of a plan, each made once while it is in use (KeptOrders); a plan that is not shuffled
// has a single one. Thread-safe.
class ChoiceOrders {
 public:
  // The plan must outlive it.
  explicit ChoiceOrders(const ChoicePlan& plan,
                        int64_t kept_bytes = KeptOrders<ChoicePlan::Ordered>::kKeptBytes)
      : plan_(plan), kept_(kept_bytes) {}

  std::shared_ptr<const ChoicePlan::Ordered> Get(const OrderKey& key) const;

 private:
  const ChoicePlan& plan_;
  const KeptOrders<ChoicePlan::Ordered> kept_;
};

// Returns how many choices of each input a block has: in proportion to `weights`, exactly if that
// is a ratio of small integers, else to within 1 in 16384; 0 only if the weight is 0.
std::vector<int64_t> BlockShares(const std::vector<double>& weights);

}  // namespace stoker
