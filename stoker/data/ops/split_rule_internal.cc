#include "stoker/data/ops/split_rule_internal.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/random.h"

namespace stoker {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// Returns one of 0..n-1 for a hash, each about equally often.
uint64_t DrawnOf(uint64_t hash, int64_t n) {
  return static_cast<uint64_t>((static_cast<__uint128_t>(hash) * static_cast<uint64_t>(n)) >> 64);
}

}  // namespace

SplitRule SplitRule::Share(double share, uint64_t seed) { return {share, 0, 0, seed}; }

SplitRule SplitRule::Fold(int64_t fold, int64_t folds, uint64_t seed) {
  return {1 / static_cast<double>(folds), fold, folds, seed};
}

bool SplitRule::IsEvalKey(uint64_t hash) const {
  const uint64_t mixed = Mix64(Mix64(seed_ + kGolden) ^ hash);
  if (folds_ > 0) return DrawnOf(mixed, folds_) == static_cast<uint64_t>(fold_ - 1);
  return static_cast<double>(mixed >> 11) * 0x1p-53 < share_;
}

bool SplitRule::IsEvalNumber(uint64_t stratum, int64_t number) const {
  // Cells have at least two numbers, so the smaller side is the one that is drawn.
  return IsDrawn(stratum, number) == (share_ <= 0.5);
}

// The share of the side that is drawn is at most a half, so cells are no smaller than 2 numbers.
int64_t SplitRule::CellOf(int64_t number) const {
  if (folds_ > 0) return number / folds_;
  return static_cast<int64_t>(
      std::floor(static_cast<double>(number) * std::min(share_, 1 - share_)));
}

int64_t SplitRule::BeginOf(int64_t cell) const {
  if (folds_ > 0) return cell * folds_;
  const double share = std::min(share_, 1 - share_);
  auto begin = static_cast<int64_t>(std::ceil(static_cast<double>(cell) / share));
  // What is rounded must agree with CellOf.
  while (begin > 0 && CellOf(begin - 1) >= cell) --begin;
  while (CellOf(begin) < cell) ++begin;
  return begin;
}

bool SplitRule::IsDrawn(uint64_t stratum, int64_t number) const {
  const int64_t cell = CellOf(number), begin = BeginOf(cell);
  const uint64_t hash =
      Mix64(Mix64(Mix64(seed_ + kGolden) ^ stratum) + static_cast<uint64_t>(cell) * kGolden + 1);
  if (folds_ > 0) {
    // The folds follow each other from a place that is drawn.
    const auto fold =
        static_cast<int64_t>((static_cast<uint64_t>(number - begin) + DrawnOf(hash, folds_)) %
                             static_cast<uint64_t>(folds_));
    return fold == fold_ - 1;
  }
  const int64_t size = BeginOf(cell + 1) - begin;
  // A class of one sample is trained on.
  if (cell == 0 && share_ > 0.5) return number == begin;
  if (cell == 0) return number == begin + 1 + static_cast<int64_t>(DrawnOf(hash, size - 1));
  return number == begin + static_cast<int64_t>(DrawnOf(hash, size));
}

}  // namespace stoker
