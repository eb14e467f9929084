// How often benchmarks with a fixed number of rounds repeat them.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace stoker {

// Returns `rounds`, or 1 where STOKER_BENCH_ONCE is in the environment: the tests run each
// benchmark once, to see that it works.
inline int64_t BenchRounds(int64_t rounds) {
  return std::getenv("STOKER_BENCH_ONCE") != nullptr ? 1 : rounds;
}

}  // namespace stoker
