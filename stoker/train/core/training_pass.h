// TrainingPass: what the layers of a model know of the step whose pass they are in, beside their
// input: which draws are theirs, and how batch norms see the rows of other ranks (layers.h).
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/train/kernels/norm_ranks.h"

namespace stoker {

class Group;

// Where in a run a pass is: the key of its draws.
struct PlaceOfPass {
  uint64_t seed = 0;
  int64_t step = 0;       // from 1
  int64_t part = 0;       // which of the step's batches
  int64_t first_row = 0;  // of the whole batch, where this process has some of its rows
};

// While it lives, the forward and backward passes of this thread are those of one batch. The inner
// of two counts.
class TrainingPass {
 public:
  // What has been drawn and measured up to a layer, for a pass through it that is made again.
  struct Mark {
    int64_t draws = 0;
    size_t moments = 0;
  };

  //   ranks  whose rows batch norms take together; null: each process its own. Outlives it.
  TrainingPass(const PlaceOfPass& place, Group* ranks = nullptr);
  ~TrainingPass();
  TrainingPass(const TrainingPass&) = delete;
  TrainingPass& operator=(const TrainingPass&) = delete;

  // Returns that of this thread; null: none.
  static TrainingPass* Now();

  const PlaceOfPass& place() const { return place_; }
  // Returns the number of a layer's draws, from 0: each call another.
  int64_t NextDraw() { return at_.draws++; }
  // Returns null if a batch norm's rows are those of this process.
  const c10::intrusive_ptr<NormRanks>& norm_ranks() const { return norm_ranks_; }
  // Returns the batch norms that have taken all ranks' rows.
  size_t norms() const;
  // Returns why the other ranks cannot be heard of any more, if a batch norm has failed by that.
  Status lost() const;

  // While it lives, layers draw and measure what they did after `mark`, without asking other ranks
  // again: the second pass of a checkpointed block.
  class Again {
   public:
    explicit Again(const Mark& mark);
    ~Again();
    Again(const Again&) = delete;
    Again& operator=(const Again&) = delete;

   private:
    TrainingPass* const pass_;
    Mark before_;
  };
  // Returns the mark of this thread's pass; of none, the beginning.
  static Mark MarkNow();

 private:
  class Moments;

  const PlaceOfPass place_;
  Mark at_;
  c10::intrusive_ptr<Moments> moments_;
  c10::intrusive_ptr<NormRanks> norm_ranks_;  // the same
  TrainingPass* const outer_;
};

}  // namespace stoker
