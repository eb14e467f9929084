// What random pipelines are chosen by (random_pipeline.h). Only tests include it.
#pragma once

#include <cstdint>
#include <random>

namespace stoker {

// Random numbers that are the same for the same seed.
class Draws {
 public:
  explicit Draws(uint32_t seed) : random_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool Coin() { return Below(2) == 0; }

 private:
  std::mt19937 random_;
};

}  // namespace stoker
