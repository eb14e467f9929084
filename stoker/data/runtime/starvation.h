// A consumer that waits for its pipeline: for how much of its time, for which stage, and what its
// program advises. What a training run reports on its progress line, in its files and at its end.
#pragma once

#include <optional>
#include <string>

#include "stoker/base/json.h"

namespace stoker {

// A consumer that waits for at least this share of its time is starved.
inline constexpr double kStarvedFrom = 0.05;

// What a run stores and shows.
struct Starvation {
  double waited = 0;   // share of the time, 0 to 1
  std::string stage;   // the one that holds the pipeline up, as recipes call it; empty: none does
  std::string why;     // "1 thread spent 97% of the time in it, 51 ms for each ..."
  std::string advice;  // what to try, an imperative without a full stop

  // "62% of the time went into waiting for data, most of all for `folder` (1 thread ...)"
  // or, where there is no stage, "62% of the time ..., which the work of no stage explains (...)".
  std::string Sentence() const;
  // "waits 62% for `folder`", for a line of progress; "for data" where there is no stage.
  std::string Brief() const;
  Json ToJson() const;
  // Nothing of what is not as ToJson writes it, null among that.
  static std::optional<Starvation> FromJson(const Json& json);
};

}  // namespace stoker
