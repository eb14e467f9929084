#include "stoker/train/kernels/optimizer_kernel.h"

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "stoker/train/kernels/optimizer_kernel.cc"  // NOLINT: read by foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#ifndef STOKER_OPTIMIZER_KERNEL_ONCE
#define STOKER_OPTIMIZER_KERNEL_ONCE
namespace stoker {
namespace {

// Sums are kept in so many floats, value i in the one of number i % kPlaces, and go into doubles
// after kFold values: few enough that rounding costs at most 2^-18 of a sum of squares.
constexpr size_t kPlaces = 16;
constexpr size_t kFold = 1024;

double Fold(float* places) {
  double sum = 0;
  for (size_t i = 0; i < kPlaces; ++i) {
    sum += static_cast<double>(places[i]);
    places[i] = 0;
  }
  return sum;
}

// One value, as the references do it; the vector code takes it for the last few.
struct LambSums {
  float* first;
  float* second;
};
inline void LambOne(float p, float& g, float& m, float& v, const LambConstants& c, size_t place,
                    const LambSums& sums) {
  m = c.beta1 * m + (1 - c.beta1) * g;
  v = c.beta2 * v + (1 - c.beta2) * (g * g);
  const float adam = (m * c.correction1) / (std::sqrt(v * c.correction2) + c.eps);
  g = adam + c.weight_decay * p;
  sums.first[place % kPlaces] += p * p;
  sums.second[place % kPlaces] += g * g;
}

}  // namespace
}  // namespace stoker
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace {  // other files have an InstructionSet for each instruction set too
namespace hn = hwy::HWY_NAMESPACE;

// No more lanes than there are places.
using Floats = hn::CappedTag<float, kPlaces>;
using Vector = hn::Vec<Floats>;

size_t Whole(size_t n) { return n - n % kPlaces; }

// Adds squares to those of their places: to `sum` where one vector holds all places, for then it
// can stay in a register, else in memory.
HWY_INLINE void AddSquare(Vector x, Vector& sum, float* place) {
  const Floats d;
  if (hn::MaxLanes(d) == kPlaces) {
    sum = hn::Add(sum, hn::Mul(x, x));
  } else {
    hn::Store(hn::Add(hn::Load(d, place), hn::Mul(x, x)), d, place);
  }
}
HWY_INLINE void KeepSum(Vector sum, float* places) {
  const Floats d;
  if (hn::MaxLanes(d) == kPlaces) hn::Store(sum, d, places);
}

SquareSums SumSquares(const float* a, const float* b, size_t n) {
  const Floats d;
  HWY_ALIGN float first[kPlaces] = {}, second[kPlaces] = {};
  SquareSums sums;
  for (size_t i = 0; i < n; i += kFold) {
    const size_t end = std::min(n, i + kFold), whole = i + Whole(end - i);
    auto first_sum = hn::Zero(d), second_sum = first_sum;
    for (size_t j = i; j < whole; j += hn::Lanes(d)) {
      AddSquare(hn::LoadU(d, a + j), first_sum, first + j % kPlaces);
      AddSquare(hn::LoadU(d, b + j), second_sum, second + j % kPlaces);
    }
    KeepSum(first_sum, first);
    KeepSum(second_sum, second);
    for (size_t j = whole; j < end; ++j) {
      first[j % kPlaces] += a[j] * a[j];
      second[j % kPlaces] += b[j] * b[j];
    }
    sums.first += Fold(first);
    sums.second += Fold(second);
  }
  return sums;
}

// Values i to end - 1, a fold at most.
void LambFold(const float* p, float* g, float* m, float* v, size_t i, size_t end,
              const LambConstants& c, float* first, float* second) {
  const Floats d;
  const auto beta1 = hn::Set(d, c.beta1), rest1 = hn::Set(d, 1 - c.beta1);
  const auto beta2 = hn::Set(d, c.beta2), rest2 = hn::Set(d, 1 - c.beta2);
  auto first_sum = hn::Zero(d), second_sum = first_sum;
  const size_t whole = i + Whole(end - i);
  for (size_t j = i; j < whole; j += hn::Lanes(d)) {
    const auto pj = hn::LoadU(d, p + j), gj = hn::LoadU(d, g + j);
    const auto mj = hn::Add(hn::Mul(beta1, hn::LoadU(d, m + j)), hn::Mul(rest1, gj));
    const auto vj = hn::Add(hn::Mul(beta2, hn::LoadU(d, v + j)), hn::Mul(rest2, hn::Mul(gj, gj)));
    const auto root = hn::Add(hn::Sqrt(hn::Mul(vj, hn::Set(d, c.correction2))), hn::Set(d, c.eps));
    const auto adam = hn::Div(hn::Mul(mj, hn::Set(d, c.correction1)), root);
    const auto uj = hn::Add(adam, hn::Mul(hn::Set(d, c.weight_decay), pj));
    hn::StoreU(mj, d, m + j);
    hn::StoreU(vj, d, v + j);
    hn::StoreU(uj, d, g + j);
    AddSquare(pj, first_sum, first + j % kPlaces);
    AddSquare(uj, second_sum, second + j % kPlaces);
  }
  KeepSum(first_sum, first);
  KeepSum(second_sum, second);
  const LambSums rest = {first, second};
  for (size_t j = whole; j < end; ++j) LambOne(p[j], g[j], m[j], v[j], c, j, rest);
}

SquareSums LambDirections(const float* p, float* g, float* m, float* v, size_t n,
                          const LambConstants& c) {
  HWY_ALIGN float first[kPlaces] = {}, second[kPlaces] = {};
  SquareSums sums;
  for (size_t i = 0; i < n; i += kFold) {
    LambFold(p, g, m, v, i, std::min(n, i + kFold), c, first, second);
    sums.first += Fold(first);
    sums.second += Fold(second);
  }
  return sums;
}

size_t SubtractScaled(float* p, const float* u, size_t n, float rate) {
  const Floats d;
  const auto r = hn::Set(d, rate);
  for (size_t j = 0; j < Whole(n); j += hn::Lanes(d)) {
    const auto scaled = hn::Mul(r, hn::LoadU(d, u + j));
    hn::StoreU(hn::Sub(hn::LoadU(d, p + j), scaled), d, p + j);
  }
  return Whole(n);
}

size_t LarsApply(float* p, const float* g, float* v, size_t n, const LarsConstants& c) {
  const Floats d;
  const auto lr = hn::Set(d, c.lr), momentum = hn::Set(d, c.momentum);
  const auto ratio = hn::Set(d, c.ratio), decay = hn::Set(d, c.weight_decay);
  for (size_t j = 0; j < Whole(n); j += hn::Lanes(d)) {
    const auto pj = hn::LoadU(d, p + j);
    const auto decayed = hn::Add(hn::LoadU(d, g + j), hn::Mul(decay, pj));
    const auto vj = hn::Add(hn::Mul(momentum, hn::LoadU(d, v + j)), hn::Mul(ratio, decayed));
    hn::StoreU(vj, d, v + j);
    hn::StoreU(hn::Sub(pj, hn::Mul(lr, vj)), d, p + j);
  }
  return Whole(n);
}

// -1, 0 or 1; a NaN stays one.
Vector SignOf(Vector x) {
  const Floats d;
  const auto one = hn::CopySign(hn::Set(d, 1.0f), x);
  const auto sign = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), one);
  return hn::IfThenElse(hn::Eq(x, x), sign, x);
}

size_t LionApply(float* p, const float* g, float* m, size_t n, const LionConstants& c) {
  const Floats d;
  const auto lr = hn::Set(d, c.lr), decay = hn::Set(d, c.weight_decay);
  const auto beta1 = hn::Set(d, c.beta1), rest1 = hn::Set(d, 1 - c.beta1);
  const auto beta2 = hn::Set(d, c.beta2), rest2 = hn::Set(d, 1 - c.beta2);
  for (size_t j = 0; j < Whole(n); j += hn::Lanes(d)) {
    const auto pj = hn::LoadU(d, p + j), gj = hn::LoadU(d, g + j), mj = hn::LoadU(d, m + j);
    const auto sign = SignOf(hn::Add(hn::Mul(beta1, mj), hn::Mul(rest1, gj)));
    hn::StoreU(hn::Sub(pj, hn::Mul(lr, hn::Add(sign, hn::Mul(decay, pj)))), d, p + j);
    hn::StoreU(hn::Add(hn::Mul(beta2, mj), hn::Mul(rest2, gj)), d, m + j);
  }
  return Whole(n);
}

size_t RmspropApply(float* p, const float* g, float* v, float* b, size_t n,
                    const RmspropConstants& c) {
  const Floats d;
  const auto lr = hn::Set(d, c.lr), eps = hn::Set(d, c.eps), decay = hn::Set(d, c.weight_decay);
  const auto alpha = hn::Set(d, c.alpha), rest = hn::Set(d, 1 - c.alpha);
  const auto momentum = hn::Set(d, c.momentum);
  for (size_t j = 0; j < Whole(n); j += hn::Lanes(d)) {
    const auto pj = hn::LoadU(d, p + j);
    const auto h = hn::Add(hn::LoadU(d, g + j), hn::Mul(decay, pj));
    const auto vj = hn::Add(hn::Mul(alpha, hn::LoadU(d, v + j)), hn::Mul(rest, hn::Mul(h, h)));
    const auto direction = hn::Div(h, hn::Add(hn::Sqrt(vj), eps));
    const auto bj = hn::Add(hn::Mul(momentum, hn::LoadU(d, b + j)), direction);
    hn::StoreU(vj, d, v + j);
    hn::StoreU(bj, d, b + j);
    hn::StoreU(hn::Sub(pj, hn::Mul(lr, bj)), d, p + j);
  }
  return Whole(n);
}

size_t FtrlApply(float* p, const float* g, float* s, float* z, size_t n, const FtrlConstants& c) {
  const Floats d;
  const auto zero = hn::Zero(d), lr = hn::Set(d, c.lr), l1 = hn::Set(d, c.l1);
  const auto l2 = hn::Set(d, c.l2), beta = hn::Set(d, c.beta), initial = hn::Set(d, c.initial);
  for (size_t j = 0; j < Whole(n); j += hn::Lanes(d)) {
    const auto pj = hn::LoadU(d, p + j), gj = hn::LoadU(d, g + j);
    const auto sum = hn::Add(hn::LoadU(d, s + j), hn::Mul(gj, gj));
    const auto root = hn::Sqrt(hn::Add(initial, sum));
    const auto curvature = hn::Add(hn::Div(hn::Add(beta, root), lr), l2);
    const auto of_weight = hn::Neg(hn::Add(hn::Mul(curvature, pj), hn::CopySign(l1, pj)));
    const auto zj = hn::LoadU(d, z + j);
    const auto still = hn::Eq(gj, zero);
    const auto before = hn::IfThenElse(hn::Or(hn::Eq(pj, zero), still), zj, of_weight);
    const auto next = hn::Add(before, gj);
    const auto moved = hn::Div(hn::Sub(hn::CopySign(l1, next), next), curvature);
    hn::StoreU(sum, d, s + j);
    hn::StoreU(next, d, z + j);
    const auto weight = hn::IfThenZeroElse(hn::Le(hn::Abs(next), l1), moved);
    hn::StoreU(hn::IfThenElse(still, pj, weight), d, p + j);
  }
  return Whole(n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(SumSquares);
HWY_EXPORT(LambDirections);
HWY_EXPORT(SubtractScaled);
HWY_EXPORT(LarsApply);
HWY_EXPORT(LionApply);
HWY_EXPORT(RmspropApply);
HWY_EXPORT(FtrlApply);

SquareSums SumSquares(const float* a, const float* b, size_t n) {
  return HWY_DYNAMIC_DISPATCH(SumSquares)(a, b, n);
}

double SumSquares(const float* a, size_t n) { return SumSquares(a, a, n).first; }

SquareSums LambDirections(const float* p, float* g, float* m, float* v, size_t n,
                          const LambConstants& constants) {
  return HWY_DYNAMIC_DISPATCH(LambDirections)(p, g, m, v, n, constants);
}

// Each of these does as many values as fill whole vectors; the references take the rest.

void SubtractScaled(float* p, const float* u, size_t n, float rate) {
  const size_t done = HWY_DYNAMIC_DISPATCH(SubtractScaled)(p, u, n, rate);
  SubtractScaledReference(p + done, u + done, n - done, rate);
}

void LarsApply(float* p, const float* g, float* v, size_t n, const LarsConstants& constants) {
  const size_t done = HWY_DYNAMIC_DISPATCH(LarsApply)(p, g, v, n, constants);
  LarsApplyReference(p + done, g + done, v + done, n - done, constants);
}

void LionApply(float* p, const float* g, float* m, size_t n, const LionConstants& constants) {
  const size_t done = HWY_DYNAMIC_DISPATCH(LionApply)(p, g, m, n, constants);
  LionApplyReference(p + done, g + done, m + done, n - done, constants);
}

void RmspropApply(float* p, const float* g, float* v, float* b, size_t n,
                  const RmspropConstants& constants) {
  const size_t done = HWY_DYNAMIC_DISPATCH(RmspropApply)(p, g, v, b, n, constants);
  RmspropApplyReference(p + done, g + done, v + done, b + done, n - done, constants);
}

void FtrlApply(float* p, const float* g, float* s, float* z, size_t n,
               const FtrlConstants& constants) {
  const size_t done = HWY_DYNAMIC_DISPATCH(FtrlApply)(p, g, s, z, n, constants);
  FtrlApplyReference(p + done, g + done, s + done, z + done, n - done, constants);
}

SquareSums SumSquaresReference(const float* a, const float* b, size_t n) {
  float first[kPlaces] = {}, second[kPlaces] = {};
  SquareSums sums;
  for (size_t j = 0; j < n; ++j) {
    first[j % kPlaces] += a[j] * a[j];
    second[j % kPlaces] += b[j] * b[j];
    if ((j + 1) % kFold != 0 && j + 1 != n) continue;
    sums.first += Fold(first);
    sums.second += Fold(second);
  }
  return sums;
}

SquareSums LambDirectionsReference(const float* p, float* g, float* m, float* v, size_t n,
                                   const LambConstants& c) {
  float first[kPlaces] = {}, second[kPlaces] = {};
  SquareSums sums;
  for (size_t j = 0; j < n; ++j) {
    LambOne(p[j], g[j], m[j], v[j], c, j, {first, second});
    if ((j + 1) % kFold != 0 && j + 1 != n) continue;
    sums.first += Fold(first);
    sums.second += Fold(second);
  }
  return sums;
}

void SubtractScaledReference(float* p, const float* u, size_t n, float rate) {
  for (size_t j = 0; j < n; ++j) p[j] -= rate * u[j];
}

void LarsApplyReference(float* p, const float* g, float* v, size_t n, const LarsConstants& c) {
  for (size_t j = 0; j < n; ++j) {
    v[j] = c.momentum * v[j] + c.ratio * (g[j] + c.weight_decay * p[j]);
    p[j] -= c.lr * v[j];
  }
}

void LionApplyReference(float* p, const float* g, float* m, size_t n, const LionConstants& c) {
  for (size_t j = 0; j < n; ++j) {
    const float direction = c.beta1 * m[j] + (1 - c.beta1) * g[j];
    float sign = direction;  // a NaN stays one
    if (direction > 0) sign = 1;
    if (direction < 0) sign = -1;
    if (direction == 0) sign = 0;
    p[j] -= c.lr * (sign + c.weight_decay * p[j]);
    m[j] = c.beta2 * m[j] + (1 - c.beta2) * g[j];
  }
}

void RmspropApplyReference(float* p, const float* g, float* v, float* b, size_t n,
                           const RmspropConstants& c) {
  for (size_t j = 0; j < n; ++j) {
    const float h = g[j] + c.weight_decay * p[j];
    v[j] = c.alpha * v[j] + (1 - c.alpha) * (h * h);
    b[j] = c.momentum * b[j] + h / (std::sqrt(v[j]) + c.eps);
    p[j] -= c.lr * b[j];
  }
}

void FtrlApplyReference(float* p, const float* g, float* s, float* z, size_t n,
                        const FtrlConstants& c) {
  for (size_t j = 0; j < n; ++j) {
    if (g[j] == 0) continue;
    s[j] += g[j] * g[j];
    const float root = std::sqrt(c.initial + s[j]);
    const float curvature = (c.beta + root) / c.lr + c.l2;
    z[j] = (p[j] == 0 ? z[j] : -(curvature * p[j] + std::copysign(c.l1, p[j]))) + g[j];
    p[j] = std::abs(z[j]) <= c.l1 ? 0 : (std::copysign(c.l1, z[j]) - z[j]) / curvature;
  }
}

}  // namespace stoker
#endif  // HWY_ONCE
