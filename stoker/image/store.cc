#include "stoker/image/store.h"

#include <hwy/cache_control.h>

#include <algorithm>

#include "stoker/image/cast.h"

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/store.cc"  // NOLINT: read by foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // pixels cannot be taken apart by vectors of one value

void StorePixels(const uint8_t* pixels, int64_t y, const PixelFinish& finish,
                 const PixelSlot& slot) {
  StoreRowReference(pixels, y, finish, slot);
}

#else

template <class D>
HWY_INLINE hn::Vec<D> Reversed(D d, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {  // couples of bytes, then each couple
    const hn::RepartitionToWide<D> couples;
    const auto turned = hn::Reverse(couples, hn::BitCast(couples, v));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(turned), hn::ShiftRight<8>(turned)));
  } else {
    return hn::Reverse(d, v);
  }
}

template <class D, class V>
HWY_INLINE void StoreChannelsLast(D d, const V* v, int64_t channels, hn::TFromD<D>* to) {
  switch (channels) {
    case 1: hn::StoreU(v[0], d, to); break;
    case 2: hn::StoreInterleaved2(v[0], v[1], d, to); break;
    case 3: hn::StoreInterleaved3(v[0], v[1], v[2], d, to); break;
    default: hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, to); break;
  }
}

// Whether all vectors of a row can be stored past the caches. That of half a vector of 16 bytes
// would write 16.
template <class D>
HWY_INLINE bool Streams(D d, const hn::TFromD<D>* row, const PixelSlot& slot) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const size_t vector_bytes = hn::Lanes(d) * sizeof(hn::TFromD<D>);
  return slot.streamed && vector_bytes >= 16 && slot.plane_stride != 0 && slot.width % lanes == 0 &&
         slot.plane_stride % lanes == 0 && reinterpret_cast<uintptr_t>(row) % vector_bytes == 0;
}

// Calls `vectors(x, v)`, which makes v[0..3], the channels of the pixels from x on, for all pixels
// of the row, and stores them. The last vector overlaps the one before.
template <class D, class Vectors>
HWY_INLINE void StoreVectors(D d, const Vectors& vectors, int64_t y, bool flip,
                             const PixelSlot& slot) {
  using T = hn::TFromD<D>;
  T* row = reinterpret_cast<T*>(slot.data) + y * slot.row_stride;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool streams = Streams(d, row, slot);
  for (int64_t x = 0; x < slot.width; x += lanes) {
    x = std::min(x, slot.width - lanes);
    hn::Vec<D> v[4];
    vectors(x, v);
    if (flip) {
      for (auto& channel : v) channel = Reversed(d, channel);
    }
    const int64_t at = flip ? slot.width - lanes - x : x;
    if (slot.plane_stride == 0) {
      StoreChannelsLast(d, v, slot.channels, row + at * slot.channels);
    } else if (streams) {
      for (int64_t c = 0; c < slot.channels; ++c)
        hn::Stream(v[c], d, row + c * slot.plane_stride + at);
    } else {
      for (int64_t c = 0; c < slot.channels; ++c)
        hn::StoreU(v[c], d, row + c * slot.plane_stride + at);
    }
  }
}

using DF = hn::ScalableTag<float>;
constexpr DF df;

// Channel c of as many pixels as a vector has floats, normalised.
struct FloatChannels {
  const uint8_t* pixels;
  const ShiftScale* constants;  // four, or null
  int64_t channels;

  HWY_INLINE void operator()(int64_t x, hn::Vec<DF>* v) const {
    const hn::RebindToUnsigned<DF> du;
    const hn::RebindToSigned<DF> di;
    const auto whole = hn::LoadU(du, reinterpret_cast<const uint32_t*>(pixels + x * kPixelBytes));
    const auto low = hn::Set(du, 255);
    const hn::Vec<decltype(du)> bytes[4] = {
        hn::And(whole, low), hn::And(hn::ShiftRight<8>(whole), low),
        hn::And(hn::ShiftRight<16>(whole), low), hn::ShiftRight<24>(whole)};
    for (int64_t c = 0; c < 4; ++c) {
      v[c] = hn::ConvertTo(df, hn::BitCast(di, bytes[c]));
      if (constants == nullptr) continue;
      v[c] =
          hn::Mul(hn::Sub(v[c], hn::Set(df, constants[c].shift)), hn::Set(df, constants[c].scale));
    }
  }
};

// To the nearest bfloat16, ties to even. Finite numbers only; those too large become infinite.
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, DF>> ToBFloat16(hn::Vec<DF> values) {
  const hn::RebindToUnsigned<DF> du;
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(du, values);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd);
  return hn::DemoteTo(hn::Rebind<uint16_t, DF>(), hn::BitCast(di, hn::ShiftRight<16>(rounded)));
}

void StorePixels(const uint8_t* pixels, int64_t y, const PixelFinish& finish,
                 const PixelSlot& slot) {
  const hn::ScalableTag<uint8_t> d8;
  const bool bytes = slot.dtype == DType::kUInt8;
  if (slot.width < static_cast<int64_t>(bytes ? hn::Lanes(d8) : hn::Lanes(df)))
    return StoreRowReference(pixels, y, finish, slot);
  ShiftScale constants[4];
  std::copy(finish.channels.begin(), finish.channels.end(), constants);
  const FloatChannels floats{pixels, finish.channels.empty() ? nullptr : constants, slot.channels};
  if (bytes) {
    const auto channels = [&](int64_t x, hn::Vec<decltype(d8)>* v) HWY_ATTR {
      hn::LoadInterleaved4(d8, pixels + x * kPixelBytes, v[0], v[1], v[2], v[3]);
    };
    StoreVectors(d8, channels, y, finish.flip, slot);
  } else if (slot.dtype == DType::kFloat32) {
    StoreVectors(df, floats, y, finish.flip, slot);
  } else {
    const auto halves = [&](int64_t x, hn::Vec<hn::Rebind<uint16_t, DF>>* v) HWY_ATTR {
      hn::Vec<DF> wide[4];
      floats(x, wide);
      for (int c = 0; c < 4; ++c) v[c] = ToBFloat16(wide[c]);
    };
    StoreVectors(hn::Rebind<uint16_t, DF>(), halves, y, finish.flip, slot);
  }
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(StorePixels);

void StoreValue(uint8_t value, const ShiftScale* constants, DType dtype, std::byte* slot,
                int64_t at) {
  if (dtype == DType::kUInt8) {
    reinterpret_cast<uint8_t*>(slot)[at] = value;
    return;
  }
  float result = value;
  if (constants != nullptr) NormalizePlaneReference(&value, 1, *constants, &result);
  if (dtype == DType::kFloat32) {
    reinterpret_cast<float*>(slot)[at] = result;
  } else {
    reinterpret_cast<uint16_t*>(slot)[at] = FloatToBFloat16(result);
  }
}

class StoringRows final : public RowReceiver {
 public:
  StoringRows(const PixelFinish& finish, const PixelSlot& slot) : finish_(finish), slot_(slot) {}
  void Take(int64_t y, const uint8_t* pixels) override { StoreRow(pixels, y, finish_, slot_); }

 private:
  const PixelFinish& finish_;
  const PixelSlot& slot_;
};

}  // namespace

PixelSlot PixelSlot::Of(DType dtype, std::byte* data, int64_t height, int64_t width,
                        int64_t channels, bool channels_last) {
  return {.dtype = dtype,
          .data = data,
          .height = height,
          .width = width,
          .channels = channels,
          .row_stride = channels_last ? width * channels : width,
          .plane_stride = channels_last ? 0 : height * width};
}

void StoreRow(const uint8_t* pixels, int64_t y, const PixelFinish& finish, const PixelSlot& slot) {
  HWY_DYNAMIC_DISPATCH(StorePixels)(pixels, y, finish, slot);
}

void StoreRowReference(const uint8_t* pixels, int64_t y, const PixelFinish& finish,
                       const PixelSlot& slot) {
  const bool channels_last = slot.plane_stride == 0;
  for (int64_t x = 0; x < slot.width; ++x) {
    const int64_t to = finish.flip ? slot.width - 1 - x : x;
    for (int64_t c = 0; c < slot.channels; ++c) {
      const int64_t at = y * slot.row_stride +
                         (channels_last ? to * slot.channels + c : to + c * slot.plane_stride);
      StoreValue(pixels[x * kPixelBytes + c],
                 finish.channels.empty() ? nullptr : &finish.channels[static_cast<size_t>(c)],
                 slot.dtype, slot.data, at);
    }
  }
}

bool ResampleToSlot(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
                    const PixelFinish& finish, const PixelSlot& slot, ResampleScratch& scratch) {
  StoringRows rows(finish, slot);
  const bool whole = Resample(source, box, filter, {slot.height, slot.width}, scratch, rows);
  if (slot.streamed) FinishStreaming();
  return whole;
}

bool CopyToSlot(const PixelView& source, const PixelFinish& finish, const PixelSlot& slot,
                ResampleScratch& scratch) {
  StoringRows rows(finish, slot);
  const bool whole = CopyRows(source, scratch, rows);
  if (slot.streamed) FinishStreaming();
  return whole;
}

void FinishStreaming() { hwy::FlushStream(); }

}  // namespace stoker
#endif  // HWY_ONCE
