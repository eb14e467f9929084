// What `train.target: {price: {normalize: auto}}` learns: a mean and a deviation for each number of
// the target, or of its logarithm.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/portable_math.h"
#include "stoker/data/learn/column_moments.h"
#include "stoker/data/learn/learner.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

// Means in deviations, above which float32 (24 bits) divides a deviation into less than 10,000
// steps.
constexpr double kMostOfFloat = (1 << 24) / 1e4;

class TargetLearner final : public StageLearner {
 public:
  TargetLearner(size_t numbers, bool log) : moments_(numbers), log_(log), row_(numbers) {}

  // Targets that no loss can take are left out: training refuses them with the name of their file.
  Status Add(const Array& kept, int64_t samples, int64_t first) override {
    const size_t n = row_.size(), size = n * DTypeSize(kept.dtype());
    for (int64_t i = 0; i < samples; ++i) {
      CastValues(kept.dtype(), kept.data() + static_cast<size_t>(i) * size, n, DType::kFloat32,
                 reinterpret_cast<std::byte*>(row_.data()));
      for (float& number : row_) number = InUnitsOfLoss(number);
      if (std::ranges::any_of(row_, [](float number) { return std::isnan(number); })) {
        if (wrong_++ == 0) first_wrong_ = first + i;
      }
      moments_.AddRow(std::span<const float>(row_));
    }
    return OkStatus();
  }

  int64_t bytes() const override { return moments_.bytes(); }

  Status Finish(const std::string& who, Json& options, Json& facts) override {
    std::vector<double> means, deviations;
    std::vector<std::string> constant, coarse;  // numbers of a target
    for (size_t c = 0; c < moments_.columns(); ++c) {
      if (moments_.count(c) == 0) {
        return FailedPrecondition(
            "{} has no target {} on the training side, so there is no mean; correct the data", who,
            Taken());
      }
      const double deviation = moments_.deviation(c);
      if (deviation == 0) constant.push_back(std::to_string(c));
      if (deviation > 0 && std::abs(moments_.mean(c)) > kMostOfFloat * deviation)
        coarse.push_back(std::to_string(c));
      means.push_back(moments_.mean(c));
      deviations.push_back(deviation == 0 ? 1 : deviation);
    }
    if (constant.size() == moments_.columns()) {
      LogWarning(
          "{} is the same in all samples of the training side, so there is nothing to predict; its "
          "deviation counts as 1",
          who);
    } else if (!constant.empty()) {
      LogWarning(
          "{}: number {} of the target is the same in all samples of the training side; its "
          "deviation counts as 1",
          who, fmt::join(constant, ", "));
    }
    if (!coarse.empty()) {
      LogWarning(
          "{}: number {} of the target lies so far from 0 beside its spread that float32, in which "
          "losses are computed, keeps fewer than four digits of it; subtract about {:.6g} from it "
          "in the data",
          who, fmt::join(coarse, ", "), means[static_cast<size_t>(std::stoll(coarse.front()))]);
    }
    if (wrong_ > 0) {
      LogWarning(
          "{} is not {} in {} sample{} of the training side, the first of them {}: left out of "
          "mean and deviation, and training ends where it meets one",
          who, Taken(), wrong_, wrong_ == 1 ? "" : "s", first_wrong_);
      facts["left_out"] = wrong_;
    }
    options = {{"mean", means}, {"std", deviations}};
    return OkStatus();
  }

 private:
  std::string_view Taken() const { return log_ ? "finite and above 0" : "finite"; }

  // NaN for what cannot be a target.
  float InUnitsOfLoss(float number) const {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    if (!std::isfinite(number)) return kNone;
    if (!log_) return number;
    return number > 0 ? static_cast<float>(PortableLog(number)) : kNone;
  }

  ColumnMoments moments_;
  const bool log_;
  std::vector<float> row_;
  int64_t wrong_ = 0, first_wrong_ = 0;
};

Result<std::unique_ptr<StageLearner>> MakeLearnerOf(const Field& field, bool log) {
  const Shape& shape = field.shape;
  if (field.dtype == DType::kBool || shape.size() > 1 || !IsFullyKnown(shape) ||
      NumValues(shape) < 1) {
    return InvalidArgument(
        "normalize takes a target of one number a sample or of a row of them, and field '{}' is "
        "{}; name the field alone, or another loss",
        field.name, field.ToString());
  }
  return std::make_unique<TargetLearner>(static_cast<size_t>(NumValues(shape)), log);
}

}  // namespace

Result<std::unique_ptr<StageLearner>> MakeTargetLearner(const LearnerInput& input) {
  return MakeLearnerOf(input.field, /*log=*/false);
}

Result<std::unique_ptr<StageLearner>> MakeLogTargetLearner(const LearnerInput& input) {
  return MakeLearnerOf(input.field, /*log=*/true);
}

}  // namespace stoker
