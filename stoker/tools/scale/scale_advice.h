// Where more ranks lose, and what helps. Pure functions of figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

// What a training with a batch, in so many ranks, measured.
struct ScaleFigure {
  int64_t batch = 0;
  int64_t ranks = 1;
  double samples_per_s = 0;
  double wait_for_ranks = 0;  // share of a step
  uint64_t gradient_bytes = 0;
  // Whether the rate differs from that of the fewest ranks with this batch by more than noise;
  // true if the noise is unknown.
  bool differs = true;
};

// A change that makes more ranks worth their while.
struct ScaleCure {
  std::string change;  // "train.accumulate=4"
  double gain = 1;     // of the rate, measured or predicted
  bool measured = false;
  std::string note;  // what else it changes
};

struct ScaleFinding {
  int64_t batch = 0;
  int64_t fewer = 1, more = 2;  // ranks
  double rate_fewer = 0, rate_more = 0;
  double wait_for_ranks = 0;     // of the more
  bool lacks_cpus = false;       // the more ranks share CPUs
  std::vector<ScaleCure> cures;  // the best first

  std::string ToText(std::string_view noun) const;
  Json ToJson() const;
};

// Returns, for each batch, the first step to more ranks at which the rate falls, with the changes
// that help there. Predicted gains assume that the wait for other ranks stays as it is when a step
// has more rows, that it is shared out over the steps between two exchanges, and that it halves
// with the bytes where these are many; what a batch of the list has measured takes the place of a
// prediction.
//   cpus       of this machine that the ranks share; 0: unknown
//   batch_key  of the recipe (BatchSizeKey)
// Changes name only keys that recipes have.
std::vector<ScaleFinding> FindLosses(std::vector<ScaleFigure> figures, int64_t cpus,
                                     std::string_view batch_key);

}  // namespace stoker
