// Returns monotonic time in nanoseconds. For statistics only: output bytes must not depend on it.
#pragma once

#include <chrono>
#include <cstdint>

namespace stoker {

inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Measures from its construction.
class Stopwatch {
 public:
  int64_t ElapsedNs() const { return NowNs() - start_ns_; }
  double ElapsedSeconds() const { return static_cast<double>(ElapsedNs()) * 1e-9; }

 private:
  int64_t start_ns_ = NowNs();
};

}  // namespace stoker
