#include "stoker/cluster/exchange_probe.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/cluster/agreement.h"

namespace stoker {
namespace {

constexpr std::string_view kWhat = "an exchange that is measured";
constexpr int64_t kSmall = 64, kLarge = int64_t{4} << 20;  // numbers
constexpr int64_t kWarmUps = 3, kFewest = 5, kMost = 2000;

Result<double> SecondsOfOne(Group& group, const at::Tensor& tensor) {
  const Stopwatch watch;
  STOKER_RETURN_IF_ERROR(group.AllReduce(tensor, Reduction::kSum, kWhat));
  return watch.ElapsedSeconds();
}

Result<double> MedianSeconds(Group& group, int64_t numbers, double seconds) {
  const at::Tensor tensor = at::zeros({numbers});
  double last = 0;
  for (int64_t i = 0; i < kWarmUps; ++i) {
    STOKER_ASSIGN_OR_RETURN(last, SecondsOfOne(group, tensor));
  }
  // All do as many, whatever each has seen.
  const auto fit = static_cast<int64_t>(std::min(1e9, seconds / std::max(last, 1e-9)));
  STOKER_ASSIGN_OR_RETURN(const int64_t rounds,
                          GreatestOf(group, std::clamp(fit, kFewest, kMost), kWhat));
  std::vector<double> taken;
  for (int64_t i = 0; i < rounds; ++i) {
    STOKER_ASSIGN_OR_RETURN(taken.emplace_back(), SecondsOfOne(group, tensor));
  }
  return Median(taken);
}

}  // namespace

Result<ExchangeRates> MeasureExchange(Group& group, double seconds) {
  ExchangeRates rates;
  STOKER_ASSIGN_OR_RETURN(rates.small_s, MedianSeconds(group, kSmall, seconds / 2));
  STOKER_ASSIGN_OR_RETURN(const double large, MedianSeconds(group, kLarge, seconds / 2));
  rates.bytes_per_s = static_cast<double>(kLarge * sizeof(float)) / large;
  return rates;
}

}  // namespace stoker
