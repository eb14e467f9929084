// Where the monitors of the ranks meet: a socket of rank 0, which a key of the store names.
#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "stoker/base/status.h"
#include "stoker/cluster/line_link_internal.h"
#include "stoker/cluster/tcp_internal.h"

namespace stoker {

// Of rank 0.
struct MonitorListener {
  Socket socket;
  std::string token;  // keeps out strangers who try ports; it is no secret
};

// Listens on `address`, at a port that the system chooses, and writes the place to `store`. Errors:
// kUnavailable and those of listening.
Result<MonitorListener> ListenForMonitors(c10d::Store& store, const std::string& address);

// Connects another rank to rank 0 and says which it is. Errors: kUnavailable; kCancelled
// (StopScope).
//   timeout  for rank 0 to write the place
//   host     of rank 0, for messages
Result<LineLink> ConnectToFirst(c10d::Store& store, int64_t rank, std::chrono::milliseconds timeout,
                                const std::string& host);

}  // namespace stoker
