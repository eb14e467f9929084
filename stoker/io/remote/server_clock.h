// The time of the servers that requests are signed for. They refuse what is signed some minutes
// before or after their own time, so a machine whose clock is wrong learns the right time from the
// answer that refuses it. Each server has a clock of its own: one that is wrong makes no other
// refuse.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

// Returns seconds since 1970, by this machine's clock and what LearnServerTime found for `server`,
// an address or another name that is the same for each call. Thread-safe.
int64_t ServerTime(const std::string& server);

// Notes that the clock of `server` shows `date` now. Thread-safe.
void LearnServerTime(const std::string& server, int64_t date);

}  // namespace stoker
