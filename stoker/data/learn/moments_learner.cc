// What `normalize` learns: a mean and a deviation for each channel, for each extent of the last
// dimension, or for the field.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/options.h"
#include "stoker/data/learn/column_moments.h"
#include "stoker/data/learn/learner.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker {
namespace {

// What a sample is reduced to, for each channel.
constexpr int64_t kReduced = 4;  // count, mean, sum of squared distances, NaNs

// The moments of one channel of one sample, in two passes over it. Returns false for an infinity.
//   values  n of them, each `stride` after the one before
template <typename T>
bool ReducePlane(const T* values, size_t n, size_t stride, double* reduced) {
  double sum = 0, m2 = 0;
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(values[i * stride]);
    const bool given = value == value;
    count += given ? 1 : 0;
    sum += given ? value : 0;
  }
  const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
  if (std::isinf(sum) || std::isnan(sum)) return false;
  for (size_t i = 0; i < n; ++i) {
    const double distance = static_cast<double>(values[i * stride]) - mean;
    m2 += distance == distance ? distance * distance : 0;
  }
  reduced[0] = static_cast<double>(count);
  reduced[1] = mean;
  reduced[2] = m2;
  reduced[3] = static_cast<double>(n - count);
  return true;
}

class MomentsLearner final : public StageLearner {
 public:
  //   last     whether channels are the last dimension rather than the first
  //   reduces  whether a sample has several values of a channel
  MomentsLearner(size_t channels, bool last, bool reduces, double scale)
      : moments_(channels), last_(last), reduces_(reduces), scale_(scale) {}

  Field Kept(const Field& field) const override {
    if (!reduces_) return field;
    return {field.name, DType::kFloat64, {static_cast<int64_t>(moments_.columns()), kReduced}};
  }

  Status Reduce(Array& value, Scratch& scratch) const override {
    if (!reduces_) return OkStatus();
    const size_t channels = moments_.columns();
    const size_t n = static_cast<size_t>(value.num_values()) / channels;
    Array reduced = scratch.NewArray(DType::kFloat64, {static_cast<int64_t>(channels), kReduced});
    double* to = reduced.values<double>().data();
    const size_t stride = last_ ? channels : 1;
    for (size_t c = 0; c < channels; ++c, to += kReduced) {
      const size_t first = last_ ? c : c * n;
      const bool finite = value.dtype() == DType::kFloat32
                              ? ReducePlane(value.values<float>().data() + first, n, stride, to)
                              : ReducePlane(value.values<uint8_t>().data() + first, n, stride, to);
      // Add says which sample it is.
      if (!finite) to[0] = -1;
    }
    value = std::move(reduced);
    return OkStatus();
  }

  Status Add(const Array& kept, int64_t samples, int64_t first) override {
    for (int64_t i = 0; i < samples; ++i) {
      if (AddOne(kept, static_cast<size_t>(i))) continue;
      return DataLoss(
          "sample {} of the training side has an infinite value, which has no mean; leave it out "
          "with `filter`, or bound the values",
          first + i);
    }
    return OkStatus();
  }

  int64_t bytes() const override { return moments_.bytes(); }

  Status Finish(const std::string& who, Json& options, Json& facts) override {
    std::vector<size_t> empty, constant;
    std::vector<double> means, deviations;
    std::vector<int64_t> missing;
    int64_t all_missing = 0;
    for (size_t c = 0; c < moments_.columns(); ++c) {
      double deviation = moments_.deviation(c) * scale_;
      if (moments_.count(c) == 0) empty.push_back(c);
      if (deviation == 0) constant.push_back(c);
      means.push_back(moments_.mean(c) * scale_);
      deviations.push_back(deviation == 0 ? 1 : deviation);
      missing.push_back(moments_.missing(c));
      all_missing += missing.back();
    }
    if (!empty.empty()) {
      return FailedPrecondition(
          "{} has no number in {} on the training side, so there is no mean; leave it out, or give "
          "missing values a number",
          who, NamesOf(empty));
    }
    if (!constant.empty()) {
      LogWarning(
          "{} always has the same value in {} on the training side, which tells a model nothing; "
          "it becomes 0 (the deviation is taken for 1)",
          who, NamesOf(constant));
    }
    if (LosesDigits()) {
      LogWarning(
          "{} has values so close together around a number so large that float32 tells few of them "
          "apart; subtract that number in the table",
          who);
    }
    if (all_missing > 0) {
      LogWarning(
          "{} has {} values that are no number (nan) on the training side: they are left out of "
          "mean and deviation; in a row of features they become 0, elsewhere they stay nan: give "
          "missing values a number, or leave their samples out with `filter`",
          who, all_missing);
      facts["missing"] = missing;
    }
    if (!constant.empty()) facts["constant"] = constant;
    options = {{"mean", means}, {"std", deviations}};
    return OkStatus();
  }

 private:
  // Whether a deviation has fewer than 64 steps of float32 (of 24 bits) in a column of numbers.
  bool LosesDigits() const {
    if (reduces_) return false;
    for (size_t c = 0; c < moments_.columns(); ++c) {
      const double step = std::abs(moments_.mean(c)) * 0x1p-23;
      if (moments_.deviation(c) > 0 && moments_.deviation(c) < 64 * step) return true;
    }
    return false;
  }

  // "it", or its channels.
  std::string NamesOf(const std::vector<size_t>& channels) const {
    constexpr size_t kNamed = 5;
    if (moments_.columns() == 1) return "it";
    const auto end =
        channels.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, channels.size()));
    return fmt::format("number {} of its {} dimension{}", fmt::join(channels.begin(), end, ", "),
                       last_ ? "last" : "first",
                       channels.size() <= kNamed
                           ? std::string()
                           : fmt::format(" and {} more", channels.size() - kNamed));
  }

  bool AddOne(const Array& kept, size_t sample) {
    const size_t n = moments_.columns();
    if (!reduces_) {
      return kept.dtype() == DType::kFloat32
                 ? moments_.AddRow(
                       std::span<const float>(kept.values<float>()).subspan(sample * n, n))
                 : moments_.AddRow(
                       std::span<const uint8_t>(kept.values<uint8_t>()).subspan(sample * n, n));
    }
    const double* reduced = kept.values<double>().data() + sample * n * kReduced;
    for (size_t c = 0; c < n; ++c, reduced += kReduced) {
      if (reduced[0] < 0) return false;
      moments_.Merge(c, reduced[0], reduced[1], reduced[2], static_cast<int64_t>(reduced[3]));
    }
    return true;
  }

  ColumnMoments moments_;
  const bool last_, reduces_;
  const double scale_;
};

}  // namespace

Result<std::unique_ptr<StageLearner>> MakeMomentsLearner(const LearnerInput& input) {
  Normalize options;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(input.options, options));
  if (options.per_sample) {
    return InvalidArgument(
        "per_sample takes mean and std from each sample, so there is nothing to learn; leave out "
        "one of `mean: auto` and `per_sample`");
  }
  if (options.std != Normalize().std) {
    return InvalidArgument(
        "std is given, but mean is auto, which learns both; leave std out, or give both");
  }
  const Shape& shape = input.field.shape;
  const bool last = options.by_last_dimension();
  const bool by_channel = options.per != "field" && !shape.empty();
  const int64_t channels = !by_channel ? 1 : last ? shape.back() : shape.front();
  if (channels < 0) {
    const bool steps = !last && shape.size() > 1 && shape.back() > 0;
    return InvalidArgument(
        "field '{}' has shape {}, whose {} dimension differs from sample to sample, so its parts "
        "have no mean of their own; say {}`per: field`, or make them equal first; words of a text "
        "are numbered by `lookup`, and in data.features are `categorical`",
        input.field.name, ShapeToString(shape), last ? "last" : "first",
        steps ? "`per: last` for a mean of each number of a step, or " : "");
  }
  if (channels < 1) return InvalidArgument("field '{}' has no values", input.field.name);
  const bool reduces = !IsFullyKnown(shape) || NumValues(shape) != channels;
  return std::make_unique<MomentsLearner>(static_cast<size_t>(channels), last, reduces,
                                          ScaleOf(options, input.field.dtype));
}

}  // namespace stoker
