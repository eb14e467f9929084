// What the page of a run is sent: once all that there is, then once a second what is new.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/tools/live/live_board.h"
#include "stoker/tools/live/live_facts.h"
#include "stoker/tools/live/machine_usage.h"
#include "stoker/tools/live/thinned_rows.h"

namespace stoker {

// Makes both from readings of the board and of the machine. Reads no clock. One thread at a time.
//
// A tick is an object; what is unknown is null or missing:
//   "t"         seconds since the command began
//   "phase", "waits", "step", "total_steps", "epoch", "epochs", "loss", "lr", "left" (seconds)
//   "rate"      samples a second, since the tick before; "noun": what they are
//   "waited"    share of the time in steps spent waiting for data, likewise
//   "losses"    new points of the curve: [step, loss, lr]; "evaluations": [step, loss, accuracy]
//   "cpus"      busy share of each CPU, likewise; "cpu": their mean
//   "memory", "memory_size", "resident"   bytes
//   "read", "written"                     bytes a second, of all disks
//   "gpus"      [{"name", "used", "memory", "memory_size", "power" (watts), "temperature"}]
//   "stages"    [{"name", "rate", "busy", "starved", "blocked"}]: elements a second, and threads on
//               average
class DashboardFeed {
 public:
  // `about`: what does not change, for the page's head
  explicit DashboardFeed(Json about) : about_(std::move(about)) {}

  // Returns the tick of this moment.
  //   seconds  since the command began; grows from call to call
  Json Tick(double seconds, const LiveFacts& facts, const NewPoints& points,
            const MachineUsage& machine);

  // Returns all that a page needs that begins now: {"about", "losses", "evaluations", "ticks": rows
  // of means over some seconds, in the order of "columns", "stages": their names, "last": the last
  // tick or null}.
  Json Whole() const;

 private:
  struct Reading {
    double seconds = 0;
    LiveFacts facts;
    MachineUsage machine;
  };
  void AddMachine(const Reading& now, Json& tick) const;
  void AddStages(const Reading& now, Json& tick) const;
  void Keep(const NewPoints& points, const Json& tick);

  static constexpr size_t kMostPoints = 1500, kMostTicks = 900, kMostEvaluations = 1500;

  const Json about_;
  std::optional<Reading> before_;
  ThinnedRows losses_{kMostPoints};
  ThinnedRows evaluations_{kMostEvaluations};
  ThinnedRows ticks_{kMostTicks};
  std::vector<std::string> stages_;
  Json last_;
};

}  // namespace stoker
