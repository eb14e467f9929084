// Watches the target of `stoker top`: looks about once a second, and keeps what it has seen.
#pragma once

#include <string>
#include <variant>

#include "stoker/base/clock.h"
#include "stoker/base/status.h"
#include "stoker/machine/live/gpu_meter.h"
#include "stoker/tools/top/process_source.h"
#include "stoker/tools/top/run_source.h"
#include "stoker/tools/top/top_history.h"

namespace stoker {

// Used by one thread.
class TopWatch {
 public:
  // Opens `target` and takes a first look: a directory is a run, a number a process; empty is the
  // newest run below `runs` that trains now. Errors: kNotFound if there is none, with what to do;
  // kInvalidArgument if the number is this process's own.
  static Result<TopWatch> Open(const std::string& target, const std::string& runs);

  // How long nothing is due.
  double SecondsUntilDue() const;

  // Does what is due; returns whether it has looked, so that there is something new to show.
  bool DoWhatIsDue();

  // Always has a sample.
  const TopHistory& history() const { return history_; }

 private:
  using Source = std::variant<RunSource, ProcessSource>;

  explicit TopWatch(Source source);
  void Look();

  Source source_;
  GpuMeter gpus_;
  TopHistory history_;
  Stopwatch since_begin_;
  double look_due_ = 0, threads_due_ = 0;  // seconds since the begin
};

}  // namespace stoker
