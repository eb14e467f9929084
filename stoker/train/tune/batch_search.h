// Which batch sizes to try, to find the largest that fits and the smallest that is fast enough. No
// model and no device: whoever tries them says what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace stoker {

// What came of one batch size.
struct BatchTrial {
  int64_t batch = 0;  // samples
  bool fits = false;
  std::string reason;  // why it does not fit
  double images_per_s = 0;
  double step_ms = 0;       // the median of the steps timed
  uint64_t peak_bytes = 0;  // at once in a step: weights, gradients, optimizer, batch, activations
};

// Doubles until a size does not fit, then halves the interval between the largest that does and the
// smallest that does not, until it is 1/32 of the size or one sample: more samples would gain less
// than the trials take. Takes for granted that whatever is smaller than a size that fits, fits too.
// One thread at a time.
class BatchSearch {
 public:
  //   cap     largest size that is tried
  //   trials  at most so many
  explicit BatchSearch(int64_t cap = 8192, int trials = 25) : cap_(cap), trials_left_(trials) {}

  // The size to try next; nothing where the search is over.
  std::optional<int64_t> Next() const;
  // Whether the size that Next gave fits.
  void Report(bool fits);

  // 0 where none did. A size that is larger by 1/32, but at least one sample, does not fit, unless
  // the search ended at its cap or its trials.
  int64_t largest() const { return fits_; }

 private:
  static constexpr int64_t kFirst = 2;
  static constexpr int64_t kParts = 32;  // of a size: the finest step

  const int64_t cap_;
  int trials_left_;
  int64_t fits_ = 0;                  // the largest that does
  std::optional<int64_t> too_large_;  // the smallest that does not
};

// The smallest of those that fit with at least `share` of the highest throughput; nothing where
// none fits.
std::optional<BatchTrial> SmallestNearPeak(std::span<const BatchTrial> trials, double share = 0.95);

// What a batch of `batch` samples would take, on the line through the two largest trials that fit;
// nothing where there are not two.
std::optional<uint64_t> PredictedBytes(std::span<const BatchTrial> trials, int64_t batch);

}  // namespace stoker
