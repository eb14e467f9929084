// What a process of `stoker launch` finds in its environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stoker {

struct RankPlace {
  int rank = 0;
  int world = 1;
  int port = 0;       // where rank 0 listens on 127.0.0.1
  int listener = -1;  // of rank 0: the descriptor of the socket that listens there
  int restart = 0;    // how often all have been started again
  int most_restarts = 0;
};

// The variables, as torchrun names them; STOKER_LISTENER, which it has not, is the descriptor.
std::vector<std::pair<std::string, std::string>> RankVariables(const RankPlace& place);

// `environment` ("NAME=value" each) with `variables` in place of those of the same name.
std::vector<std::string> WithVariables(
    const std::vector<std::string>& environment,
    const std::vector<std::pair<std::string, std::string>>& variables);

// The CPUs of `all` that rank `rank` of `world` works on: an equal share, and all where there are
// more ranks than CPUs.
std::vector<int> CpusOfRank(const std::vector<int>& all, int rank, int world);

}  // namespace stoker
