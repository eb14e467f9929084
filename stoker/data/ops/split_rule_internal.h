// Which samples are for evaluation: the arithmetic of `split`.
#pragma once

#include <cstdint>

namespace stoker {

// A pure function of its arguments and the seed, so a sample stays on its side when others are
// added behind it. It is part of the format of a run. Thread-safe.
class SplitRule {
 public:
  // A share of all samples, 0 < share < 1.
  static SplitRule Share(double share, uint64_t seed);
  // Fold number `fold`, 1 to `folds`, of 2 folds or more.
  static SplitRule Fold(int64_t fold, int64_t folds, uint64_t seed);

  // Returns whether the samples with a key of this hash are for evaluation: each key independently,
  // with the probability of the share. Of one seed, the folds part the keys among them, and a
  // larger share has the keys of a smaller one.
  bool IsEvalKey(uint64_t hash) const;

  // Returns whether sample `number`, counted from 0 in its class, is for evaluation. The numbers
  // are cut into cells of 1 / share samples (of `folds`), and one of each is drawn, so of any first
  // n samples n * share are for evaluation, or less than one more or fewer. Of one seed, the folds
  // part the numbers among them. Unless there are folds, number 0 is for training.
  //   stratum  hash of the class
  bool IsEvalNumber(uint64_t stratum, int64_t number) const;

  // Returns the share that evaluation gets.
  double share() const { return share_; }

 private:
  SplitRule(double share, int64_t fold, int64_t folds, uint64_t seed)
      : share_(share), fold_(fold), folds_(folds), seed_(seed) {}
  int64_t CellOf(int64_t number) const;
  int64_t BeginOf(int64_t cell) const;
  bool IsDrawn(uint64_t stratum, int64_t number) const;

  double share_;
  int64_t fold_, folds_;  // 0 if there are none
  uint64_t seed_;
};

}  // namespace stoker
