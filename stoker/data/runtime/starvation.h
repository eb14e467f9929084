// Describes a consumer that waits for its pipeline: the share of its time, the stage, and the
// advice. A training run reports it on its progress line, in its files and at its end.
#pragma once

#include <optional>
#include <string>

#include "stoker/base/json.h"

namespace stoker {

// A consumer that waits for at least this share of its time is starved.
inline constexpr double kStarvedFrom = 0.05;

// The values that a run stores and shows.
struct Starvation {
  double waited = 0;   // share of the time, 0 to 1
  std::string stage;   // the limiting stage, as recipes call it; empty: none
  std::string why;     // "1 thread spent 97% of the time in it, 51 ms for each ..."
  std::string advice;  // what to try, an imperative without a full stop

  // "62% of the time went into waiting for data, most of all for `folder` (1 thread ...)" or,
  // without a stage, "62% of the time ..., which the work of no stage explains (...)".
  std::string Sentence() const;
  // "waits 62% for `folder`", for a line of progress; "for data" without a stage.
  std::string Brief() const;
  Json ToJson() const;
  // Returns nothing for anything that ToJson does not write, such as null.
  static std::optional<Starvation> FromJson(const Json& json);
};

}  // namespace stoker
