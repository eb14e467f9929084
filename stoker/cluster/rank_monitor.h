// RankMonitor: a thread of each rank that notices when another rank is lost, hangs or has failed,
// also while this rank computes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/cluster/monitor_hooks.h"

namespace stoker {

struct MonitorOptions {
  int64_t rank = 0;
  std::vector<std::string> hosts;  // of all ranks, by rank
  std::string address;             // of this machine, at which the others reach rank 0
  // After which a rank counts as lost of which nothing is heard, or for which others wait.
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
  std::function<void()> end_exchanges = {};  // those under way; called before `hooks`
  MonitorHooks hooks = {};
};

// Each rank has a connection to rank 0, over which both tell every half second what they do. If a
// process dies, the system closes its connection, so rank 0 hears of it at once, judges
// (rank_judge_internal.h) and tells the others; where rank 0 dies, each hears of that itself. No
// rank compares its clock with another's: the listener measures the silence, and only while it can
// listen, so a process that was stopped for a while accuses nobody when it goes on.
//
// Of a fault, the sentence is the same on all ranks: "rank 3 on node7 is lost: its connection was
// closed; it was last seen computing step 12". A rank that ends says so before (Leave), with its
// error if it has one, which the others get as "rank 3 failed: ...".
//
// Thread-safe.
class RankMonitor {
 public:
  // Rank 0 listens on `address`, at a port that the system chooses and `store` tells the others.
  // Returns once this rank is connected. Errors: kUnavailable, kCancelled (StopScope).
  static Result<std::unique_ptr<RankMonitor>> Start(c10d::Store& store, MonitorOptions options);

  // Leaves, if it has not.
  ~RankMonitor();
  RankMonitor(const RankMonitor&) = delete;
  RankMonitor& operator=(const RankMonitor&) = delete;

  // Sets what the others are told that this rank does: "computing step 12".
  void Does(std::string doing);

  // Counts a collective that this rank begins. Returns its number, from 1, which is the same on
  // every rank.
  int64_t Begins();
  // Says that this rank waits for that collective: `what` is being done.
  void Awaits(int64_t number, std::string what);
  void AwaitsNothing();

  // Returns success while all ranks can go on; kUnavailable: why they cannot. A rank that has
  // called it has noticed.
  Status fault();
  // The same, after a wait for it, if there is none yet. For a rank whose exchange has failed: the
  // reason is often known a moment later.
  Status WaitForFault(std::chrono::milliseconds longest);

  // Tells the others that this rank ends, and why if it has failed, and stops listening. Waits at
  // most a second for them to hear it.
  void Leave(const Status& how);

 private:
  class Impl;
  explicit RankMonitor(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace stoker
