// How the ranks of a group find each other: a store of keys that rank 0 keeps, which each rank
// signs.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/cluster/membership.h"
#include "stoker/cluster/open_sockets_internal.h"

namespace stoker {

struct Meeting {
  c10::intrusive_ptr<c10d::Store> store;  // keys of this start of the run only
  std::string address;                    // of this machine, as rank 0 sees it
  std::vector<std::string> hosts;         // by rank
  // To the store; empty where this process keeps it, and need not wait for itself.
  SocketList store_sockets = {};
};

// Opens the store, or connects to it, and returns when all ranks have come. Errors: see JoinGroup
// (group.h).
Result<Meeting> Meet(const Membership& membership, std::chrono::milliseconds timeout);

// Returns what c10d says in the exception that is being handled, on one line and without the places
// in its source.
std::string CaughtText();

}  // namespace stoker
