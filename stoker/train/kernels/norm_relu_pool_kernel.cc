#include "stoker/train/kernels/norm_relu_pool_kernel.h"

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "stoker/train/kernels/norm_relu_pool_kernel.cc"  // NOLINT: read by foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace {  // other files have an InstructionSet for each instruction set too
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::Rebind<int32_t, Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;
using FloatVector = hn::Vec<Floats>;
using IntegerVector = hn::Vec<Integers>;

// Pixels whose sum is kept in floats before it goes into doubles: few enough that rounding costs at
// most 64 half steps of a float (4e-6 of the sum of magnitudes), and that they stay in the first
// cache.
constexpr size_t kPixelsAFold = 128;

// Channels that full vectors cover; the references take the rest.
size_t VectorChannels(size_t channels) { return channels - channels % hn::Lanes(Floats()); }

void Fold(FloatVector values, double* into) {
  const Floats d;
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(values, d, lanes);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) into[lane] += static_cast<double>(lanes[lane]);
}

void AddMoments(const float* x, const ImageExtent& extent, const float* origin, double* sum,
                double* squares) {
  const Floats d;
  const size_t channels = extent.channels, vectors = VectorChannels(channels);
  for (size_t start = 0; start < extent.pixels(); start += kPixelsAFold) {
    const size_t end = std::min(extent.pixels(), start + kPixelsAFold);
    for (size_t c = 0; c < vectors; c += hn::Lanes(d)) {
      const auto o = hn::LoadU(d, origin + c);
      // Two of each, so that an addition need not wait for the one before.
      auto sum0 = hn::Zero(d), sum1 = sum0, squares0 = sum0, squares1 = sum0;
      size_t pixel = start;
      for (; pixel + 2 <= end; pixel += 2) {
        const auto x0 = hn::Sub(hn::LoadU(d, x + pixel * channels + c), o);
        const auto x1 = hn::Sub(hn::LoadU(d, x + (pixel + 1) * channels + c), o);
        sum0 = hn::Add(sum0, x0);
        sum1 = hn::Add(sum1, x1);
        squares0 = hn::MulAdd(x0, x0, squares0);
        squares1 = hn::MulAdd(x1, x1, squares1);
      }
      if (pixel < end) {
        const auto x0 = hn::Sub(hn::LoadU(d, x + pixel * channels + c), o);
        sum0 = hn::Add(sum0, x0);
        squares0 = hn::MulAdd(x0, x0, squares0);
      }
      Fold(hn::Add(sum0, sum1), sum + c);
      Fold(hn::Add(squares0, squares1), squares + c);
    }
  }
  AddMomentsReference(x, extent, vectors, origin, sum, squares);
}

// The largest so far of a window.
struct Peak {
  FloatVector y, x;
  IntegerVector choice;

  void Offer(FloatVector other_y, FloatVector other_x, int32_t which) {
    const auto larger = hn::Or(hn::Gt(other_y, y), hn::IsNaN(other_y));
    y = hn::IfThenElse(larger, other_y, y);
    x = hn::IfThenElse(larger, other_x, x);
    choice = hn::IfThenElse(hn::RebindMask(Integers(), larger), hn::Set(Integers(), which), choice);
  }
};

void PoolForward(const float* x, const ImageExtent& extent, const float* scale, const float* shift,
                 float* pooled, float* peak, PoolChoice* choice) {
  const Floats d;
  const size_t channels = extent.channels, vectors = VectorChannels(channels);
  const size_t row = extent.width * channels;
  size_t out = 0;
  for (size_t top = 0; top + 2 <= extent.height; top += 2) {
    const float* window = x + top * row;
    for (size_t left = 0; left + 2 <= extent.width; left += 2) {
      for (size_t c = 0; c < vectors; c += hn::Lanes(d)) {
        const auto s = hn::LoadU(d, scale + c), t = hn::LoadU(d, shift + c);
        const auto x0 = hn::LoadU(d, window + c), x1 = hn::LoadU(d, window + channels + c);
        const auto x2 = hn::LoadU(d, window + row + c);
        const auto x3 = hn::LoadU(d, window + row + channels + c);
        Peak best{hn::Add(hn::Mul(x0, s), t), x0, hn::Zero(Integers())};
        best.Offer(hn::Add(hn::Mul(x1, s), t), x1, 1);
        best.Offer(hn::Add(hn::Mul(x2, s), t), x2, 2);
        best.Offer(hn::Add(hn::Mul(x3, s), t), x3, 3);
        const auto nothing = hn::Le(best.y, hn::Zero(d));
        hn::StoreU(hn::IfThenZeroElse(nothing, best.y), d, pooled + out + c);
        if (choice == nullptr) continue;
        hn::StoreU(best.x, d, peak + out + c);
        const auto none = hn::Set(Integers(), kNothingPassed);
        const auto which = hn::IfThenElse(hn::RebindMask(Integers(), nothing), none, best.choice);
        hn::StoreU(hn::DemoteTo(Bytes(), which), Bytes(), choice + out + c);
      }
      out += channels;
      window += 2 * channels;
    }
  }
  PoolForwardReference(x, extent, vectors, scale, shift, pooled, peak, choice);
}

IntegerVector LoadChoice(const PoolChoice* choice) {
  return hn::PromoteTo(Integers(), hn::LoadU(Bytes(), choice));
}

// `values` where the choice was `which`, else zero.
FloatVector WhereChosen(IntegerVector choice, int32_t which, FloatVector values) {
  const auto chosen = hn::Eq(choice, hn::Set(Integers(), which));
  return hn::IfThenElseZero(hn::RebindMask(Floats(), chosen), values);
}

void AddGradientSums(const float* grad, const float* peak, const PoolChoice* choice,
                     const ImageExtent& extent, const float* mean, double* sum, double* products) {
  const Floats d;
  const size_t channels = extent.channels, vectors = VectorChannels(channels);
  for (size_t start = 0; start < extent.windows(); start += kPixelsAFold) {
    const size_t end = std::min(extent.windows(), start + kPixelsAFold);
    for (size_t c = 0; c < vectors; c += hn::Lanes(d)) {
      const auto m = hn::LoadU(d, mean + c);
      auto sums = hn::Zero(d), product_sums = sums;
      for (size_t i = start * channels + c; i < end * channels; i += channels) {
        const auto passed = hn::Lt(LoadChoice(choice + i), hn::Set(Integers(), kNothingPassed));
        const auto g = hn::IfThenElseZero(hn::RebindMask(d, passed), hn::LoadU(d, grad + i));
        sums = hn::Add(sums, g);
        product_sums = hn::MulAdd(g, hn::Sub(hn::LoadU(d, peak + i), m), product_sums);
      }
      Fold(sums, sum + c);
      Fold(product_sums, products + c);
    }
  }
  AddGradientSumsReference(grad, peak, choice, extent, vectors, mean, sum, products);
}

// b * x + c for `pixels` pixels one after the other: those of no window.
void BackwardOutside(const float* x, size_t pixels, size_t channels, const float* b, const float* c,
                     float* dx) {
  const Floats d;
  for (size_t i = 0; i < pixels * channels; i += channels) {
    for (size_t k = 0; k < VectorChannels(channels); k += hn::Lanes(d)) {
      const auto bx = hn::Mul(hn::LoadU(d, b + k), hn::LoadU(d, x + i + k));
      hn::StoreU(hn::Add(bx, hn::LoadU(d, c + k)), d, dx + i + k);
    }
  }
}

void PoolBackward(const float* x, const float* grad, const PoolChoice* choice,
                  const ImageExtent& extent, const float* a, const float* b, const float* c,
                  float* dx) {
  const Floats d;
  const size_t channels = extent.channels, vectors = VectorChannels(channels);
  const size_t row = extent.width * channels;
  size_t window = 0;  // its place in grad and choice
  for (size_t top = 0; top + 2 <= extent.height; top += 2) {
    size_t first = top * row;
    for (size_t left = 0; left + 2 <= extent.width; left += 2) {
      for (size_t k = 0; k < vectors; k += hn::Lanes(d)) {
        const auto bk = hn::LoadU(d, b + k), ck = hn::LoadU(d, c + k);
        const auto ag = hn::Mul(hn::LoadU(d, a + k), hn::LoadU(d, grad + window + k));
        const auto which = LoadChoice(choice + window + k);
        const size_t places[] = {first + k, first + channels + k, first + row + k,
                                 first + row + channels + k};
        for (int32_t i = 0; i < 4; ++i) {
          const auto rest = hn::Add(hn::Mul(bk, hn::LoadU(d, x + places[i])), ck);
          hn::StoreU(hn::Add(WhereChosen(which, i, ag), rest), d, dx + places[i]);
        }
      }
      window += channels;
      first += 2 * channels;
    }
    if (extent.width % 2 != 0) {
      BackwardOutside(x + first, 1, channels, b, c, dx + first);
      BackwardOutside(x + first + row, 1, channels, b, c, dx + first + row);
    }
  }
  if (extent.height % 2 != 0) {
    const size_t last = (extent.height - 1) * row;
    BackwardOutside(x + last, extent.width, channels, b, c, dx + last);
  }
  PoolBackwardReference(x, grad, choice, extent, vectors, a, b, c, dx);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(AddMoments);
HWY_EXPORT(PoolForward);
HWY_EXPORT(AddGradientSums);
HWY_EXPORT(PoolBackward);

}  // namespace

void AddMoments(const float* x, const ImageExtent& extent, const float* origin, double* sum,
                double* squares) {
  HWY_DYNAMIC_DISPATCH(AddMoments)(x, extent, origin, sum, squares);
}

void PoolForward(const float* x, const ImageExtent& extent, const float* scale, const float* shift,
                 float* pooled, float* peak, PoolChoice* choice) {
  HWY_DYNAMIC_DISPATCH(PoolForward)(x, extent, scale, shift, pooled, peak, choice);
}

void AddGradientSums(const float* grad, const float* peak, const PoolChoice* choice,
                     const ImageExtent& extent, const float* mean, double* sum, double* products) {
  HWY_DYNAMIC_DISPATCH(AddGradientSums)(grad, peak, choice, extent, mean, sum, products);
}

void PoolBackward(const float* x, const float* grad, const PoolChoice* choice,
                  const ImageExtent& extent, const float* a, const float* b, const float* c,
                  float* dx) {
  HWY_DYNAMIC_DISPATCH(PoolBackward)(x, grad, choice, extent, a, b, c, dx);
}

void AddMomentsReference(const float* x, const ImageExtent& extent, size_t first,
                         const float* origin, double* sum, double* squares) {
  for (size_t pixel = 0; pixel < extent.pixels(); ++pixel) {
    for (size_t c = first; c < extent.channels; ++c) {
      const double moved = static_cast<double>(x[pixel * extent.channels + c] - origin[c]);
      sum[c] += moved;
      squares[c] += moved * moved;
    }
  }
}

void PoolForwardReference(const float* x, const ImageExtent& extent, size_t first,
                          const float* scale, const float* shift, float* pooled, float* peak,
                          PoolChoice* choice) {
  if (first == extent.channels) return;
  const size_t channels = extent.channels, row = extent.width * channels;
  size_t out = 0;
  for (size_t top = 0; top + 2 <= extent.height; top += 2) {
    for (size_t left = 0; left + 2 <= extent.width; left += 2, out += channels) {
      const float* window = x + top * row + left * channels;
      const size_t pixels[] = {0, channels, row, row + channels};
      for (size_t c = first; c < channels; ++c) {
        PoolChoice which = 0;
        float best = window[c] * scale[c] + shift[c];
        for (PoolChoice i = 1; i < 4; ++i) {
          const float y = window[pixels[i] + c] * scale[c] + shift[c];
          if (y > best || std::isnan(y)) {
            best = y;
            which = i;
          }
        }
        const bool nothing = best <= 0;
        pooled[out + c] = nothing ? 0.0f : best;
        if (choice == nullptr) continue;
        peak[out + c] = window[pixels[which] + c];
        choice[out + c] = nothing ? kNothingPassed : which;
      }
    }
  }
}

void AddGradientSumsReference(const float* grad, const float* peak, const PoolChoice* choice,
                              const ImageExtent& extent, size_t first, const float* mean,
                              double* sum, double* products) {
  for (size_t window = 0; window < extent.windows(); ++window) {
    for (size_t c = first; c < extent.channels; ++c) {
      const size_t i = window * extent.channels + c;
      if (choice[i] == kNothingPassed) continue;
      sum[c] += static_cast<double>(grad[i]);
      products[c] += static_cast<double>(grad[i]) * static_cast<double>(peak[i] - mean[c]);
    }
  }
}

void PoolBackwardReference(const float* x, const float* grad, const PoolChoice* choice,
                           const ImageExtent& extent, size_t first, const float* a, const float* b,
                           const float* c, float* dx) {
  if (first == extent.channels) return;
  const size_t width = extent.width, channels = extent.channels;
  for (size_t y = 0; y < extent.height; ++y) {
    for (size_t left = 0; left < width; ++left) {
      const bool inside = y / 2 < extent.height / 2 && left / 2 < width / 2;
      const size_t window = ((y / 2) * (width / 2) + left / 2) * channels;
      const size_t pixel = (y * width + left) * channels;
      for (size_t k = first; k < channels; ++k) {
        const bool chosen = inside && choice[window + k] == (y % 2) * 2 + left % 2;
        const float ag = chosen ? a[k] * grad[window + k] : 0.0f;
        dx[pixel + k] = ag + (b[k] * x[pixel + k] + c[k]);
      }
    }
  }
}

}  // namespace stoker
#endif  // HWY_ONCE
