#include "stoker/tools/launch/rank_environment.h"

#include <algorithm>
#include <string_view>

namespace stoker {

std::vector<std::pair<std::string, std::string>> RankVariables(const RankPlace& place) {
  std::vector<std::pair<std::string, std::string>> variables{
      {"RANK", std::to_string(place.rank)},
      {"WORLD_SIZE", std::to_string(place.world)},
      {"LOCAL_RANK", std::to_string(place.rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(place.world)},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", std::to_string(place.port)},
      {"TORCHELASTIC_RESTART_COUNT", std::to_string(place.restart)},
      {"TORCHELASTIC_MAX_RESTARTS", std::to_string(place.most_restarts)},
  };
  if (place.listener >= 0)
    variables.emplace_back("STOKER_LISTENER", std::to_string(place.listener));
  return variables;
}

std::vector<std::string> WithVariables(
    const std::vector<std::string>& environment,
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (const std::string& entry : environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const bool replaced =
        std::ranges::any_of(variables, [&](const auto& each) { return each.first == name; });
    // Of another launcher, around this one, and not of these processes.
    if (!replaced && name != "STOKER_LISTENER" && name != "TORCHELASTIC_USE_AGENT_STORE")
      all.push_back(entry);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<int> CpusOfRank(const std::vector<int>& all, int rank, int world) {
  const auto count = static_cast<int64_t>(all.size());
  if (world > count) return all;
  return {all.begin() + count * rank / world, all.begin() + count * (rank + 1) / world};
}

}  // namespace stoker
