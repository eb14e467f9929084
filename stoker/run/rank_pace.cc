#include "stoker/run/rank_pace.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker {

std::optional<RankPace> PaceOf(const std::vector<RankTime>& ranks) {
  const auto work = [](const RankTime& rank) { return rank.seconds - rank.joined; };
  double seconds = 0, least_joined = 0, joined = 0;
  for (const RankTime& rank : ranks) seconds += rank.seconds;
  if (ranks.size() < 2 || !(seconds > 0)) return std::nullopt;
  const auto [fastest, slowest] = std::ranges::minmax_element(ranks, {}, work);
  least_joined = slowest->joined;
  for (const RankTime& rank : ranks) joined += std::max(0.0, rank.joined - least_joined);
  return RankPace{.waited = joined / seconds,
                  .exchanged = least_joined * static_cast<double>(ranks.size()) / seconds,
                  .slowest = slowest - ranks.begin(),
                  .fastest = fastest - ranks.begin()};
}

std::string RankPace::Brief() const {
  if (waited < kTellWaitsFrom) return {};
  return fmt::format("ranks wait {:.0f}% for rank {}", 100 * waited, slowest);
}

std::string RankPace::Sentence() const {
  return fmt::format(
      "waited {:.0f}% of the time of steps for slower ones, and exchanged for {:.0f}%; "
      "slowest rank {}, fastest rank {}",
      100 * waited, 100 * exchanged, slowest, fastest);
}

}  // namespace stoker
