// The sockets that a library opened, found from outside, to shut them down where it offers no way
// to.
#pragma once

#include <sys/types.h>

#include <map>

#include "stoker/base/status.h"

namespace stoker {

// Descriptors of this process's sockets, each with the number that the kernel gives the socket: a
// descriptor that was closed and opened again has another.
using SocketList = std::map<int, ino_t>;

// Errors: kResourceExhausted where the process has no descriptor left to list the others with.
Result<SocketList> OpenSockets();

// Those connected over TCP that are open now and are not in `before`. What other threads open
// meanwhile is among them. Errors: those of OpenSockets.
Result<SocketList> OpenedSince(const SocketList& before);

// Ends both directions of those that are still open: reads of their owner get to the end, writes
// fail, here and at the other side. The descriptors stay open.
void ShutDown(const SocketList& sockets);

}  // namespace stoker
