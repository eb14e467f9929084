// Shows the progress of a packing: a bar on a terminal, occasional lines elsewhere.
#pragma once

#include <cstdint>

#include "stoker/base/clock.h"
#include "stoker/data/pack/pack.h"
#include "stoker/tools/program/status_line.h"

namespace stoker {

class PackProgressLine {
 public:
  // `bar`: one is drawn on standard error; else lines are written there.
  PackProgressLine(int64_t files, bool bar) : files_(files), status_(bar) {}

  void On(const PackProgress& progress);
  // Removes the bar. Call it before printing anything else.
  void Finish() { status_.Clear(); }

  const PackProgress& last() const { return last_; }
  double elements_per_s() const;

 private:
  std::string Text() const;

  const int64_t files_;
  StatusLine status_;
  PackProgress last_;
  Stopwatch since_start_, since_line_;
};

}  // namespace stoker
