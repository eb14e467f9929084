#include "stoker/image/normalize.h"

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/normalize.cc"  // NOLINT: read by foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many values as a vector of floats has, converted to float.
template <class D>
hn::Vec<D> LoadFloats(D /*d*/, const uint8_t* from) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::Rebind<int32_t, D> integers;
  return hn::ConvertTo(D(), hn::PromoteTo(integers, hn::LoadU(bytes, from)));
}
template <class D>
hn::Vec<D> LoadFloats(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <typename T>
void NormalizeVectors(const T* in, size_t n, ShiftScale constants, float* out) {
  const hn::ScalableTag<float> d;
  const auto shift = hn::Set(d, constants.shift);
  const auto scale = hn::Set(d, constants.scale);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::Sub(LoadFloats(d, in + i), shift), scale), d, out + i);
  }
  NormalizePlaneReference(in + i, n - i, constants, out + i);
}

// HWY_EXPORT takes the name of a function, not of an instance of a template.
void NormalizeBytes(const uint8_t* in, size_t n, ShiftScale constants, float* out) {
  NormalizeVectors(in, n, constants, out);
}
void NormalizeFloats(const float* in, size_t n, ShiftScale constants, float* out) {
  NormalizeVectors(in, n, constants, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(NormalizeBytes);
HWY_EXPORT(NormalizeFloats);

template <typename T>
void NormalizePlaneReferenceOf(const T* in, size_t n, ShiftScale constants, float* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = (static_cast<float>(in[i]) - constants.shift) * constants.scale;
  }
}

template <typename T>
void NormalizeImagesOf(const T* in, size_t num_images, size_t plane_size,
                       std::span<const ShiftScale> channels, float* out) {
  if (channels.size() == 1) {  // the planes of all images are one long plane
    NormalizePlane(in, num_images * plane_size, channels.front(), out);
    return;
  }
  for (size_t image = 0; image < num_images; ++image) {
    for (const ShiftScale& constants : channels) {
      NormalizePlane(in, plane_size, constants, out);
      in += plane_size;
      out += plane_size;
    }
  }
}

}  // namespace

void NormalizePlane(const uint8_t* in, size_t n, ShiftScale constants, float* out) {
  HWY_DYNAMIC_DISPATCH(NormalizeBytes)(in, n, constants, out);
}

void NormalizePlane(const float* in, size_t n, ShiftScale constants, float* out) {
  HWY_DYNAMIC_DISPATCH(NormalizeFloats)(in, n, constants, out);
}

void NormalizePlaneReference(const uint8_t* in, size_t n, ShiftScale constants, float* out) {
  NormalizePlaneReferenceOf(in, n, constants, out);
}

void NormalizePlaneReference(const float* in, size_t n, ShiftScale constants, float* out) {
  NormalizePlaneReferenceOf(in, n, constants, out);
}

void NormalizeImages(const uint8_t* in, size_t num_images, size_t plane_size,
                     std::span<const ShiftScale> channels, float* out) {
  NormalizeImagesOf(in, num_images, plane_size, channels, out);
}

void NormalizeImages(const float* in, size_t num_images, size_t plane_size,
                     std::span<const ShiftScale> channels, float* out) {
  NormalizeImagesOf(in, num_images, plane_size, channels, out);
}

}  // namespace stoker
#endif  // HWY_ONCE
