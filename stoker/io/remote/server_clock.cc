#include "stoker/io/remote/server_clock.h"

#include <atomic>
#include <ctime>

namespace stoker {
namespace {

std::atomic<int64_t> offset{0};  // of servers' clocks to this machine's

}  // namespace

int64_t ServerTime() { return std::time(nullptr) + offset.load(); }

void LearnServerTime(int64_t date) { offset.store(date - std::time(nullptr)); }

}  // namespace stoker
