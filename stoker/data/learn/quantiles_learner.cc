// What `bucketize: {bounds: auto}` learns: where buckets of about equal counts begin.
#include <cmath>
#include <utility>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/options.h"
#include "stoker/base/quantile_sketch.h"
#include "stoker/data/learn/learner.h"
#include "stoker/data/transforms/bucketize.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

class QuantilesLearner final : public StageLearner {
 public:
  QuantilesLearner(int64_t buckets, bool numbers_nan)
      : buckets_(buckets), numbers_nan_(numbers_nan) {}

  Status Add(const Array& kept, int64_t samples, int64_t first) override {
    const auto n = static_cast<size_t>(kept.num_values());
    const size_t of_each = n / static_cast<size_t>(samples);
    values_.resize(n);
    CastValues(kept.dtype(), kept.data(), n, DType::kFloat64,
               reinterpret_cast<std::byte*>(values_.data()));
    for (size_t i = 0; i < n; ++i) {
      if (std::isinf(values_[i])) {
        return DataLoss(
            "sample {} of the training side has an infinite value, which bounds no bucket; leave "
            "it out with `filter`, or bound the values",
            first + static_cast<int64_t>(i / of_each));
      }
      if (std::isnan(values_[i])) {
        ++missing_;
      } else {
        sketch_.Add(values_[i]);
      }
    }
    return OkStatus();
  }

  int64_t bytes() const override {
    return sketch_.bytes() + static_cast<int64_t>(values_.capacity() * sizeof(double));
  }

  Status Finish(const std::string& who, Json& options, Json& facts) override {
    if (sketch_.count() == 0) {
      return FailedPrecondition(
          "{} has no number on the training side, so there are no quantiles; leave the stage out",
          who);
    }
    // A bound at the smallest value, or at one that is a bound already, would begin an empty
    // bucket.
    std::vector<double> bounds;
    double last = sketch_.min();
    for (const double bound : sketch_.Dividers(buckets_)) {
      if (bound > last) bounds.push_back(bound);
      last = bound;
    }
    if (bounds.empty()) {
      return FailedPrecondition(
          "{} has nearly always the same value on the training side, {}, so there are no buckets; "
          "leave the stage out, or give `bounds`",
          who, last);
    }
    if (std::ssize(bounds) + 1 <= buckets_ / 2) {
      LogWarning("{} has too few different values for {} buckets of equal counts; there are {}",
                 who, buckets_, bounds.size() + 1);
    }
    options = {{"bounds", bounds}};
    facts = {{"values", sketch_.count()}};
    if (missing_ > 0) {
      facts["missing"] = missing_;
      if (!numbers_nan_) {
        LogWarning(
            "{} has {} NaN{} on the training side, left out of the bounds; training ends where it "
            "meets one, unless `nan` gives them a number",
            who, missing_, missing_ == 1 ? "" : "s");
      }
    }
    return OkStatus();
  }

 private:
  const int64_t buckets_;
  const bool numbers_nan_;
  QuantileSketch sketch_;
  std::vector<double> values_;  // that are added, kept for its memory
  int64_t missing_ = 0;
};

}  // namespace

Result<std::unique_ptr<StageLearner>> MakeQuantilesLearner(const LearnerInput& input) {
  STOKER_RETURN_IF_ERROR(Bucketize::CheckIsNumbers(input.field));
  Bucketize options;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(input.options, options));
  return std::make_unique<QuantilesLearner>(options.quantiles, options.nan.has_value());
}

}  // namespace stoker
