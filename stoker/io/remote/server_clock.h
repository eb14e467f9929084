// The time of the servers that requests are signed for. They refuse what is signed some minutes
// before or after their own time, so a machine whose clock is wrong learns the right time from the
// answer that refuses it.
#pragma once

#include <cstdint>

namespace stoker {

// Returns seconds since 1970, by this machine's clock and what LearnServerTime found. Thread-safe.
int64_t ServerTime();

// Notes that a server's clock shows `date` now; for all servers, because it is this machine's clock
// that is wrong. Thread-safe.
void LearnServerTime(int64_t date);

}  // namespace stoker
