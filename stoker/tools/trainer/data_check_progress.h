// Shows the progress of a full check of the data files (--check-data full): a bar on a terminal, a
// plain line every ten seconds elsewhere. The destructor removes the bar.
#pragma once

#include "stoker/base/clock.h"
#include "stoker/data/recipe/file_marks.h"
#include "stoker/tools/program/status_line.h"

namespace stoker {

class DataCheckProgress {
 public:
  // `bar`: whether standard error is a terminal; `quiet`: nothing is shown.
  DataCheckProgress(bool bar, bool quiet) : quiet_(quiet), status_(bar && !quiet) {}

  void On(const CheckProgress& progress);

 private:
  const bool quiet_;
  StatusLine status_;
  Stopwatch since_line_;
};

}  // namespace stoker
