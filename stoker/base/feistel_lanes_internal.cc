#include "stoker/base/feistel_lanes_internal.h"

#include <algorithm>
#include <array>

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/base/feistel_lanes_internal.cc"  // NOLINT: for foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<uint64_t>;
using V = hn::Vec<D>;

// A round multiplies x ^ key, 64 bits, by a multiplier of 64 and takes two words of the product:
// those of 32 bits in places 1 and 3. x has at most 32 bits, so the upper word of x ^ key is the
// key's, and two of the four partial products are the same for every value.
struct LaneRound {
  uint64_t key_low;
  uint64_t multiplier_low, multiplier_high;
  uint64_t cross_low;  // the lower word of key_high * multiplier_low
  uint64_t high;       // its upper word, and key_high * multiplier_high
};

LaneRound PrepareRound(const FeistelRound& round) {
  constexpr uint64_t kWord = 0xffffffff;
  const uint64_t key_high = round.key >> 32;
  const uint64_t low = round.multiplier & kWord, high = round.multiplier >> 32;
  const uint64_t cross = key_high * low;
  return {.key_low = round.key & kWord,
          .multiplier_low = low,
          .multiplier_high = high,
          .cross_low = cross & kWord,
          .high = key_high * high + (cross >> 32)};
}

// Lanes of no more than 32 bits, multiplied.
V MultiplyWords(V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(D(), hn::GetLane(a) * hn::GetLane(b));
#else
  const hn::Repartition<uint32_t, D> words;
  return hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, b));
#endif
}

// The function of a round, before it is masked: its upper words mean nothing.
V RoundOf(const LaneRound& round, V x) {
  const D d;
  const V word = hn::Set(d, 0xffffffff);
  const V key = hn::Xor(x, hn::Set(d, round.key_low));
  const V low = MultiplyWords(key, hn::Set(d, round.multiplier_low));
  const V cross = MultiplyWords(key, hn::Set(d, round.multiplier_high));
  const V middle =
      hn::Add(hn::Add(hn::ShiftRight<32>(low), hn::And(cross, word)), hn::Set(d, round.cross_low));
  const V high = hn::Add(hn::Add(hn::ShiftRight<32>(cross), hn::ShiftRight<32>(middle)),
                         hn::Set(d, round.high));
  return hn::Xor(middle, hn::ShiftRight<32>(high));
}

void Encrypt(const FeistelNetwork& network, uint64_t* values, size_t n) {
  const D d;
  std::array<LaneRound, kMostFeistelRounds> rounds;
  for (size_t i = 0; i < network.rounds.size(); ++i) rounds[i] = PrepareRound(network.rounds[i]);
  const V low_mask = hn::Set(d, network.low_mask), high_mask = hn::Set(d, network.high_mask);
  const auto walk = [&](V value) HWY_ATTR {
    V low = hn::And(value, low_mask);
    V high = hn::ShiftRightSame(value, network.low_bits);
    for (size_t round = 0; round < network.rounds.size(); round += 2) {
      high = hn::Xor(high, hn::And(RoundOf(rounds[round], low), high_mask));
      low = hn::Xor(low, hn::And(RoundOf(rounds[round + 1], high), low_mask));
    }
    return hn::Or(hn::ShiftLeftSame(high, network.low_bits), low);
  };
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(walk(hn::LoadU(d, values + i)), d, values + i);
  if (i == n) return;
  HWY_ALIGN std::array<uint64_t, HWY_MAX_BYTES / sizeof(uint64_t)> rest = {};
  std::copy_n(values + i, n - i, rest.data());
  hn::Store(walk(hn::Load(d, rest.data())), d, rest.data());
  std::copy_n(rest.data(), n - i, values + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::internal {

HWY_EXPORT(Encrypt);

void EncryptLanes(const FeistelNetwork& network, std::span<uint64_t> values) {
  HWY_DYNAMIC_DISPATCH(Encrypt)(network, values.data(), values.size());
}

}  // namespace stoker::internal
#endif  // HWY_ONCE
