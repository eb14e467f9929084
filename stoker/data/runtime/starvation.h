// A consumer that waits for its pipeline: for how much of its time, for which stage, and what to
// try. What a training run tells, on its progress line, in its files and at its end.
#pragma once

#include <optional>
#include <string>

#include "stoker/base/json.h"
#include "stoker/data/dataset.h"
#include "stoker/data/iterator.h"

namespace stoker {

// From this share of its time on, a consumer that waits is worth a word.
inline constexpr double kStarvedFrom = 0.05;

// The stage that holds a pipeline up.
struct LimitingStage {
  std::string name;    // as recipes call it
  std::string why;     // "1 thread spent 97% of the time in it, 5.1e+04 us for each ..."
  std::string advice;  // what to try, an imperative without a full stop
};

// Of `iterator`, a pass over `dataset`, by what it has counted so far.
//   fixed_threads  whether the user has set how many threads there are (train.feed_threads)
// Any thread, also while another uses the iterator.
LimitingStage FindLimitingStage(const Dataset& dataset, const Iterator& iterator,
                                bool fixed_threads);

// What a run stores and shows.
struct Starvation {
  double waited = 0;  // share of the time, 0 to 1
  LimitingStage limit;

  // "62% of the time went into waiting for data, most of all for `folder` (1 thread ...)"
  std::string Sentence() const;
  Json ToJson() const;
  // Nothing of what is not as ToJson writes it, null among that.
  static std::optional<Starvation> FromJson(const Json& json);
};

}  // namespace stoker
