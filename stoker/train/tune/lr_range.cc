#include "stoker/train/tune/lr_range.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace stoker {
namespace {

constexpr size_t kLeftOutAtTheEnd = 5;
constexpr size_t kFewestPoints = 10;

size_t IndexOfLowest(std::span<const double> values) {
  return static_cast<size_t>(std::ranges::min_element(values) - values.begin());
}

// Nothing if no loss is below an earlier one.
std::optional<size_t> ValleyOf(std::span<const double> loss) {
  // longest[i]: of the falling subsequences that end at i.
  std::vector<size_t> longest(loss.size(), 1);
  for (size_t i = 1; i < loss.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (loss[i] < loss[j]) longest[i] = std::max(longest[i], longest[j] + 1);
    }
  }
  const auto top = std::ranges::max_element(longest);
  if (*top == 1) return std::nullopt;
  const auto end = static_cast<int64_t>(top - longest.begin());
  const auto length = static_cast<int64_t>(*top);
  return static_cast<size_t>(std::max<int64_t>(end - length + length / 3 + length / 6, 0));
}

size_t SteepestOf(std::span<const double> lr, std::span<const double> loss) {
  std::vector<double> slopes;
  for (size_t i = 0; i + 1 < loss.size(); ++i) {
    slopes.push_back((loss[i + 1] - loss[i]) / (std::log(lr[i + 1]) - std::log(lr[i])));
  }
  return IndexOfLowest(slopes);
}

}  // namespace

Status CheckLrRange(const LrRangeOptions& options) {
  if (!(options.low > 0) || !(options.high > options.low) || !std::isfinite(options.high)) {
    return InvalidArgument(
        "the rates go from {} to {}; they must begin above 0 and end above where they begin",
        options.low, options.high);
  }
  if (options.steps < kFewestLrSteps) {
    return InvalidArgument("{} steps are too few for a curve; take at least {}", options.steps,
                           kFewestLrSteps);
  }
  if (!(options.smooth >= 0 && options.smooth < 1)) {
    return InvalidArgument("a weight of the past of {} cannot be; it is at least 0 and below 1",
                           options.smooth);
  }
  if (options.diverged > 1) return OkStatus();
  return InvalidArgument("a loss has not diverged at {} times its lowest; take more than 1",
                         options.diverged);
}

double LrOfStep(const LrRangeOptions& options, int64_t i) {
  const double share = static_cast<double>(i) / static_cast<double>(options.steps);
  if (options.linear) return options.low + (options.high - options.low) * share;
  return options.low * std::pow(options.high / options.low, share);
}

bool LrRangeTest::Add(double lr, double loss) {
  if (!std::isfinite(loss)) {
    diverged_ = true;
    return false;
  }
  const double mean = mean_.Add(loss);
  lowest_ = curve_.lr.empty() ? mean : std::min(lowest_, mean);
  curve_.lr.push_back(lr);
  curve_.raw.push_back(loss);
  curve_.loss.push_back(mean);
  diverged_ = mean > options_.diverged * lowest_;
  return !diverged_;
}

std::optional<LrSuggestions> SuggestLr(const LrCurve& curve) {
  const size_t first = curve.lr.size() / 10;
  if (curve.lr.size() < first + kLeftOutAtTheEnd + kFewestPoints) return std::nullopt;
  const size_t count = curve.lr.size() - first - kLeftOutAtTheEnd;
  const auto lr = std::span(curve.lr).subspan(first, count);
  const auto loss = std::span(curve.loss).subspan(first, count);
  const std::optional<size_t> valley = ValleyOf(loss);
  if (!valley) return std::nullopt;
  return LrSuggestions{.valley = lr[*valley],
                       .steepest = lr[SteepestOf(lr, loss)],
                       .minimum_tenth = lr[IndexOfLowest(loss)] / 10};
}

}  // namespace stoker
