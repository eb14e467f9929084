// Tuner: `memory_format: auto`, `precision: auto` and `threads: auto`. Times a few real steps of
// each alternative, on a model of its own with a real batch, and keeps the fastest. The run's
// weights, random state and data position are not touched.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/train/choices.h"
#include "stoker/train/recipe.h"

namespace c10 {
struct Device;
}

namespace stoker {

struct TuneTrial {
  Choices choices;
  double step_ms = 0;  // the median of the steps timed
  int steps = 0;
  bool chosen = false;
};

struct TuneReport {
  std::vector<TuneTrial> trials;  // empty where nothing was open
  double seconds = 0;
  std::string reason;  // of the choice, in one sentence

  // A table for people, one alternative a line.
  std::string ToText() const;
};

struct Tuned {
  Choices choices;
  TuneReport report;
};

// What the recipe fixes is kept; the layouts, precisions and thread numbers left open are timed in
// all combinations, two to twelve of them, for two seconds in all or three steps each, whichever is
// longer. Where no parameter of the model has four dimensions the layout is not open. Leaves
// at::set_num_threads at the choice.
Result<Tuned> Tune(const Recipe& recipe, const c10::Device& device);

}  // namespace stoker
