#include "stoker/tools/compare/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stoker/base/json_or_null.h"
#include "stoker/base/statistics.h"

namespace stoker {
namespace {

constexpr size_t kFewestWindows = 4;
constexpr double kNormalQuantile = 1.959964;

// Seconds a sample, and how sure its mean is.
struct Pace {
  double mean = 0;
  double relative_error = 0;  // standard error over mean
  double degrees = 0;         // of freedom
};

// The correlation of neighbours, not below 0: what alternates is no reason to trust fewer windows
// more.
double Correlation(std::span<const RateWindow> windows, double mean) {
  double products = 0, squares = 0, last = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    const double off = windows[i].seconds / windows[i].amount - mean;
    if (i > 0) products += off * last;
    squares += off * off;
    last = off;
  }
  return squares > 0 ? std::clamp(products / squares, 0.0, 0.95) : 0.0;
}

Pace PaceOf(std::span<const RateWindow> windows) {
  double amount = 0, seconds = 0, squares = 0, weights = 0;
  for (const RateWindow& window : windows) {
    amount += window.amount;
    seconds += window.seconds;
  }
  Pace pace{.mean = seconds / amount};
  for (const RateWindow& window : windows) {
    const double off = window.seconds / window.amount - pace.mean;
    squares += window.amount * off * off;
    weights += window.amount * window.amount;
  }
  // Windows of unequal amounts count for fewer.
  const double r = Correlation(windows, pace.mean);
  const double independent = std::max(3.0, amount * amount / weights * (1 - r) / (1 + r));
  const double variance = squares / amount * independent / (independent - 1);
  pace.relative_error = std::sqrt(variance / independent) / pace.mean;
  pace.degrees = independent - 1;
  return pace;
}

void Judge(double none, NoisyChange& change) {
  if (*change.low > none) {
    change.verdict = NoiseVerdict::kHigher;
  } else if (*change.high < none) {
    change.verdict = NoiseVerdict::kLower;
  } else {
    change.verdict = NoiseVerdict::kNoise;
  }
}

std::vector<RateWindow> Usable(std::span<const RateWindow> windows) {
  std::vector<RateWindow> usable;
  for (const RateWindow& window : windows) {
    if (window.amount > 0 && window.seconds > 0 && std::isfinite(window.amount) &&
        std::isfinite(window.seconds)) {
      usable.push_back(window);
    }
  }
  return usable;
}

}  // namespace

std::string_view NoiseVerdictName(NoiseVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"higher", "lower", "noise", "unknown"};
  return kNames[static_cast<size_t>(verdict)];
}

Json NoisyChange::ToJson() const {
  return {{"change", FiniteOrNull(change)},
          {"low", low ? FiniteOrNull(*low) : Json()},
          {"high", high ? FiniteOrNull(*high) : Json()},
          {"verdict", std::string(NoiseVerdictName(verdict))}};
}

NoisyChange CompareRates(std::span<const RateWindow> before, std::span<const RateWindow> after) {
  const std::vector<RateWindow> first = Usable(before), second = Usable(after);
  NoisyChange change{.change = std::nan("")};
  if (first.empty() || second.empty()) return change;
  const Pace a = PaceOf(first), b = PaceOf(second);
  change.change = a.mean / b.mean;
  if (first.size() < kFewestWindows || second.size() < kFewestWindows) return change;
  const double a2 = a.relative_error * a.relative_error, b2 = b.relative_error * b.relative_error;
  const double error = std::sqrt(a2 + b2);
  // Welch and Satterthwaite.
  const double degrees =
      error > 0 ? (a2 + b2) * (a2 + b2) / (a2 * a2 / a.degrees + b2 * b2 / b.degrees) : 2;
  const double reach = std::exp(StudentQuantile(degrees) * error);
  change.low = change.change / reach;
  change.high = change.change * reach;
  Judge(/*none=*/1, change);
  return change;
}

NoisyChange CompareShares(double before, int64_t before_samples, double after,
                          int64_t after_samples) {
  NoisyChange change{.change = after - before};
  const bool shares = before >= 0 && before <= 1 && after >= 0 && after <= 1;
  if (!shares || before_samples < 1 || after_samples < 1) return change;
  // One right and one wrong sample more in each.
  const double n = static_cast<double>(before_samples), m = static_cast<double>(after_samples);
  const double p = (before * n + 1) / (n + 2), q = (after * m + 1) / (m + 2);
  const double error = std::sqrt(p * (1 - p) / (n + 2) + q * (1 - q) / (m + 2));
  change.low = q - p - kNormalQuantile * error;
  change.high = q - p + kNormalQuantile * error;
  Judge(/*none=*/0, change);
  return change;
}

}  // namespace stoker
