#include "stoker/base/random.h"

#include <cmath>
#include <numbers>

#include "stoker/base/portable_math.h"

namespace stoker {
namespace {

constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // 2^64 / phi, the step of SplitMix64

// cos(2 pi u) for u in [0, 1), from +, -, * and / alone (base/portable_math.h says why).
double PortableCosOfTurns(double u) {
  const double quarters = 4.0 * u;
  const int quadrant = static_cast<int>(quarters + 0.5);
  const double x = (quarters - quadrant) * (std::numbers::pi / 2);  // |x| <= pi/4
  const bool sine = quadrant % 2 == 1;
  const double square = x * x;
  double sum = 1;  // Taylor series by Horner's rule: each factor is -x^2 / (k (k + 1))
  for (int k = sine ? 18 : 17; k >= 1; k -= 2) sum = 1.0 - sum * square / (k * (k + 1));
  const double value = sine ? x * sum : sum;
  return quadrant == 1 || quadrant == 2 ? -value : value;
}

}  // namespace

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Rng::Rng(uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stage) {
  uint64_t key = Mix64(seed + kGoldenRatio);
  key = Mix64(key + stage + kGoldenRatio);
  key = Mix64(key + (epoch >> 32) + kGoldenRatio);
  key_ = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  counter_ = {0, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
              static_cast<uint32_t>(epoch)};
}

uint32_t Rng::NextU32() {
  if (used_ == 4) {
    block_ = Philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[static_cast<size_t>(used_++)];
}

uint64_t Rng::NextU64() {
  const uint64_t low = NextU32();
  return static_cast<uint64_t>(NextU32()) << 32 | low;
}

uint64_t Rng::Below(uint64_t n) {
  if (n <= UINT32_MAX) {
    const auto small = static_cast<uint32_t>(n);
    uint64_t product = uint64_t{NextU32()} * small;
    if (static_cast<uint32_t>(product) < small) {
      const uint32_t unfair = (0 - small) % small;  // 2^32 mod n: that many products are left over
      while (static_cast<uint32_t>(product) < unfair) product = uint64_t{NextU32()} * small;
    }
    return product >> 32;
  }
  __uint128_t product = static_cast<__uint128_t>(NextU64()) * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t unfair = (0 - n) % n;
    while (static_cast<uint64_t>(product) < unfair)
      product = static_cast<__uint128_t>(NextU64()) * n;
  }
  return static_cast<uint64_t>(product >> 64);
}

float Rng::Uniform() { return static_cast<float>(NextU32() >> 8) * 0x1p-24f; }

double Rng::UniformDouble() { return static_cast<double>(NextU64() >> 11) * 0x1p-53; }

double Rng::Normal() {
  // In (0, 1]: its logarithm exists.
  const double radius_draw = (static_cast<double>(NextU32()) + 1.0) * 0x1p-32;
  const double angle_draw = static_cast<double>(NextU32()) * 0x1p-32;
  return std::sqrt(-2.0 * PortableLog(radius_draw)) * PortableCosOfTurns(angle_draw);
}

}  // namespace stoker
