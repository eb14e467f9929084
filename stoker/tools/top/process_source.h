// Watches a process and those below it from outside, by /proc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/machine/processes/host_counters.h"
#include "stoker/machine/processes/process_reader.h"
#include "stoker/tools/foreign/process_watch.h"
#include "stoker/tools/top/top_history.h"

namespace stoker {

// Used by one thread.
class ProcessSource {
 public:
  // Errors: kNotFound if there is no such process; kInvalidArgument if it is this one.
  static Result<ProcessSource> Open(int64_t pid);

  // Looks at what the threads do, which is a matter of moments. Returns how many seconds later it
  // is to look again, so that looking takes a small share of a CPU however many threads there are.
  double LookAtThreads();

  // Fills what is about the processes in the history, the verdict included. Never fails.
  void Look(TopHistory& history);

 private:
  struct HostReading {
    HostCounters counters;
    int64_t at_ns = 0;
  };
  // What was seen since a moment.
  struct Watched {
    ProcessWatch watch;
    HostReading begin;  // of the machine, at that moment or a little before
    int64_t begin_ns = 0;
    double others = 0;  // runnable threads of other programs, summed over looks
    int64_t looks = 0;
  };

  explicit ProcessSource(int64_t pid);
  Watched WatchedFrom(int64_t now_ns) const;
  void FindTree(int64_t now_ns);
  void ReadHost(int64_t now_ns);
  void Take(Watched& watched, double others, int64_t now_ns) const;
  ProcessProfile Profile(int64_t now_ns) const;
  bool Ended() const;

  int64_t pid_;
  ProcessReader reader_;
  std::string command_;
  std::vector<ProcessSample> tree_;  // at the last look
  // The last seconds are those since the older one began. Once the newer one is long enough it
  // becomes the older one.
  Watched older_, newer_;
  Framework framework_ = Framework::kUnknown;
  HostReading host_;  // the last one
  int64_t tree_due_ns_ = 0, host_due_ns_ = 0, looks_ = 0;
};

}  // namespace stoker
