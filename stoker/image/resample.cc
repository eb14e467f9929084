#include "stoker/image/resample.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "stoker/base/stop_counter.h"
#include "stoker/image/resample_kernels_internal.h"
#include "stoker/image/resample_weights_internal.h"

namespace stoker {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 24;
constexpr std::array<std::string_view, 6> kFilterNames = {"nearest",  "box",     "area",
                                                          "bilinear", "bicubic", "lanczos"};

// Values that vectors are loaded from.
struct alignas(64) CacheLine {
  int16_t values[32] = {};
};
class AlignedValues {
 public:
  void Resize(int64_t n) { lines_.resize(static_cast<size_t>(n + kRowSlack) / 32 + 1); }
  int16_t* data() { return lines_.front().values; }

 private:
  std::vector<CacheLine> lines_;
};

AxisKey VerticalKey(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
                    const ResampleSize& size) {
  return {filter, source.height, size.height, box.y, box.height, /*in_pairs=*/false};
}
AxisKey HorizontalKey(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
                      const ResampleSize& size) {
  return {filter, source.width, size.width, box.x, box.width, /*in_pairs=*/true};
}

}  // namespace

struct ResampleScratch::State {
  AxisWeights vertical, horizontal;
  std::vector<const uint8_t*> byte_rows;
  std::vector<const int16_t*> middle_rows;
  std::vector<uint8_t*> pixel_rows;
  std::vector<int16_t*> ring_rows;
  AlignedValues line, blocks, ring, pixels;
  std::vector<float> floats;
};

ResampleScratch::ResampleScratch() : state_(std::make_unique<State>()) {}
ResampleScratch::~ResampleScratch() = default;
ResampleScratch::ResampleScratch(ResampleScratch&&) noexcept = default;
ResampleScratch& ResampleScratch::operator=(ResampleScratch&&) noexcept = default;

namespace {

// One call of Resample.
class Resampling {
 public:
  Resampling(const PixelView& source, const ResampleSize& size, ResampleScratch::State& state)
      : source_(source),
        size_(size),
        state_(state),
        span_(state.horizontal.span()),
        row_values_(source.planar() ? span_ : span_ * source.channels),
        line_stride_((row_values_ + kRowSlack) / 2 * 2),
        at_once_(BlocksInVector()) {
    const int64_t pairs = state.horizontal.pairs();
    state_.line.Resize(line_stride_ * source.num_planes());
    state_.blocks.Resize((span_ / 2 + pairs + 1) * at_once_ * kBlockValues);
    state_.pixels.Resize(at_once_ * pixel_stride() / 2);
    state_.pixel_rows.resize(static_cast<size_t>(at_once_));
    for (int64_t r = 0; r < at_once_; ++r) state_.pixel_rows[static_cast<size_t>(r)] = pixels(r);
  }

  // Each row of the result is made of rows of the source, then its pixels of that row's.
  bool RunColumnsFirst(RowReceiver& rows) {
    const int64_t row_work = 2 * (span_ * state_.vertical.pairs() + size_.width);
    const int shift = state_.horizontal.precision() + kMiddleBits;
    for (int64_t y = 0; y < size_.height; y += at_once_) {
      const int64_t n = std::min(at_once_, size_.height - y);
      for (int64_t r = 0; r < n; ++r) {
        CombineSourceRows(y + r);
        PairLine(r);
      }
      CombineColumns(state_.blocks.data(), state_.horizontal, size_.width, shift,
                     state_.pixel_rows.data());
      for (int64_t r = 0; r < n; ++r) rows.Take(y + r, pixels(r));
      if (stop_.Asked(n * row_work)) return false;
    }
    return true;
  }

  // Each row of the source gets the result's width, and the last of them are kept.
  bool RunRowsFirst(RowReceiver& rows) {
    const AxisWeights& vertical = state_.vertical;
    const int64_t kept = 2 * vertical.pairs() + at_once_;
    state_.ring.Resize(kept * ring_stride());
    state_.ring_rows.resize(static_cast<size_t>(at_once_));
    state_.middle_rows.resize(static_cast<size_t>(2 * vertical.pairs()));
    int64_t done = 0;
    for (int64_t y = 0; y < size_.height; ++y) {
      const int64_t end = vertical.first(y) + vertical.count(y);
      for (; done < end; done += at_once_) {
        NarrowSourceRows(done, kept);
        if (stop_.Asked(at_once_ * (span_ + 2 * size_.width))) return false;
      }
      for (size_t t = 0; t < state_.middle_rows.size(); ++t) {
        const int64_t row = std::min(vertical.first(y) + static_cast<int64_t>(t), end - 1);
        state_.middle_rows[t] = ring(row % kept);
      }
      CombineRows(state_.middle_rows.data(), vertical.weights(y), vertical.pairs(),
                  static_cast<size_t>(size_.width * kPixelBytes),
                  vertical.precision() + kMiddleBits, pixels(0));
      rows.Take(y, pixels(0));
      if (stop_.Asked(2 * size_.width * vertical.pairs())) return false;
    }
    return true;
  }

 private:
  int64_t padded_width() const { return (size_.width + 3) / 4 * 4; }
  int64_t pixel_stride() const { return padded_width() * kPixelBytes + kRowSlack; }
  int64_t ring_stride() const { return padded_width() * kPixelBytes; }
  uint8_t* pixels(int64_t r) {
    return reinterpret_cast<uint8_t*>(state_.pixels.data()) + r * pixel_stride();
  }
  int16_t* ring(int64_t slot) { return state_.ring.data() + slot * ring_stride(); }

  // The start of row y within the part of the source that is used.
  const uint8_t* SourceRow(int64_t y, int64_t plane) const {
    const int64_t x = state_.horizontal.base() * (source_.planar() ? 1 : source_.channels);
    return source_.data + (state_.vertical.base() + y) * source_.row_stride +
           plane * source_.plane_stride + x;
  }

  void CombineSourceRows(int64_t y) {
    const AxisWeights& vertical = state_.vertical;
    state_.byte_rows.resize(static_cast<size_t>(2 * vertical.pairs()));
    for (int64_t plane = 0; plane < source_.num_planes(); ++plane) {
      for (size_t t = 0; t < state_.byte_rows.size(); ++t) {
        const int64_t tap = std::min(static_cast<int64_t>(t), vertical.count(y) - 1);
        state_.byte_rows[t] = SourceRow(vertical.first(y) + tap, plane);
      }
      CombineRows(state_.byte_rows.data(), vertical.weights(y), vertical.pairs(),
                  static_cast<size_t>(row_values_), vertical.precision() - kMiddleBits,
                  state_.line.data() + plane * line_stride_);
    }
  }

  // Gives as many rows as fit into a vector, from `done` on, the result's width.
  void NarrowSourceRows(int64_t done, int64_t kept) {
    for (int64_t r = 0; r < at_once_; ++r) {
      state_.ring_rows[static_cast<size_t>(r)] = ring((done + r) % kept);
      if (done + r >= state_.vertical.span()) continue;  // what comes out is not used
      for (int64_t plane = 0; plane < source_.num_planes(); ++plane) {
        WidenRow(SourceRow(done + r, plane), static_cast<size_t>(row_values_),
                 state_.line.data() + plane * line_stride_);
      }
      PairLine(r);
    }
    CombineColumns(state_.blocks.data(), state_.horizontal, size_.width,
                   state_.horizontal.precision(), state_.ring_rows.data());
  }

  void PairLine(int64_t r) {
    const int64_t blocks = (span_ + 1) / 2, stride = at_once_ * kBlockValues;
    int16_t* out = state_.blocks.data() + r * kBlockValues;
    if (source_.planar()) {
      PairPlanes(state_.line.data(), line_stride_, source_.channels, blocks, stride, out);
    } else {
      PairInterleaved(state_.line.data(), source_.channels, blocks, stride, out);
    }
  }

  const PixelView& source_;
  const ResampleSize& size_;
  ResampleScratch::State& state_;
  const int64_t span_;        // columns of the source that are used
  const int64_t row_values_;  // in a row of a plane, or of interleaved pixels
  const int64_t line_stride_;
  const int64_t at_once_;  // rows
  StopCounter stop_;
};

// Gives pixels of kChannels, `step` bytes apart, the four bytes of RowReceiver.
template <int64_t kChannels>
void SpreadRow(const uint8_t* in, int64_t step, int64_t plane_stride, int64_t n, uint8_t* out) {
  for (int64_t x = 0; x < n; ++x) {
    for (int64_t c = 0; c < kPixelBytes; ++c)
      out[x * kPixelBytes + c] = in[x * step + std::min(c, kChannels - 1) * plane_stride];
  }
}

void SpreadRow(const PixelView& source, int64_t y, uint8_t* out) {
  const uint8_t* row = source.data + y * source.row_stride;
  const int64_t step = source.planar() ? 1 : source.channels;
  const int64_t plane = source.planar() ? source.plane_stride : 1;
  switch (source.channels) {
    case 1: return SpreadRow<1>(row, step, plane, source.width, out);
    case 2: return SpreadRow<2>(row, step, plane, source.width, out);
    case 3: return SpreadRow<3>(row, step, plane, source.width, out);
    default: return SpreadRow<4>(row, step, plane, source.width, out);
  }
}

// T stands for any value of its size.
template <typename T>
bool TakeNearest(const std::byte* in, const AxisKey& rows, const AxisKey& columns, std::byte* out) {
  std::vector<int64_t> taken(static_cast<size_t>(columns.out));
  for (int64_t x = 0; x < columns.out; ++x)
    taken[static_cast<size_t>(x)] = NearestPixel(columns, x);
  T* to = reinterpret_cast<T*>(out);
  StopCounter stop;
  for (int64_t y = 0; y < rows.out; ++y) {
    const T* row = reinterpret_cast<const T*>(in) + NearestPixel(rows, y) * columns.in;
    for (const int64_t x : taken) *to++ = row[x];
    if (stop.Asked(columns.out)) return false;
  }
  return true;
}

}  // namespace

std::string_view ResampleFilterName(ResampleFilter filter) {
  return kFilterNames[static_cast<size_t>(filter)];
}

Result<ResampleFilter> ParseResampleFilter(std::string_view name) {
  const auto found = std::find(kFilterNames.begin(), kFilterNames.end(), name);
  if (found != kFilterNames.end()) return static_cast<ResampleFilter>(found - kFilterNames.begin());
  return InvalidArgument("'{}' is no filter; it must be one of: {}", name,
                         fmt::join(kFilterNames, ", "));
}

Status CheckResample(std::string_view who, const PixelView& source, const ResampleBox& box,
                     const ResampleSize& size) {
  const auto usable = [](int64_t side) { return side >= 1 && side <= kMaxSide; };
  if (source.channels < 1 || source.channels > kPixelBytes) {
    return InvalidArgument("{}: an image of {} channels; 1 to 4 can be resized", who,
                           source.channels);
  }
  if (!usable(source.height) || !usable(source.width) || !usable(size.height) ||
      !usable(size.width)) {
    return InvalidArgument("{}: from {} x {} to {} x {} pixels; each side must be 1 to {}", who,
                           source.height, source.width, size.height, size.width, kMaxSide);
  }
  if (size.height * size.width > kMostResizedPixels) {
    return InvalidArgument("{}: from {} x {} to {} x {} pixels; a result has at most {}", who,
                           source.height, source.width, size.height, size.width,
                           kMostResizedPixels);
  }
  const auto inside = [](double begin, double extent, int64_t side) {
    return begin >= 0 && extent > 0 && begin + extent <= static_cast<double>(side);
  };
  if (!inside(box.y, box.height, source.height) || !inside(box.x, box.width, source.width)) {
    return InvalidArgument(
        "{}: the box from ({}, {}), {} high and {} wide, is empty or not within the image of {} x "
        "{}",
        who, box.y, box.x, box.height, box.width, source.height, source.width);
  }
  return OkStatus();
}

int64_t ResampleTableBytes(int64_t height, int64_t width, const ResampleBox& box,
                           ResampleFilter filter, const ResampleSize& size) {
  const PixelView source{.height = height, .width = width, .channels = 1};
  return AxisWeights::MostBytesFor(VerticalKey(source, box, filter, size)) +
         AxisWeights::MostBytesFor(HorizontalKey(source, box, filter, size));
}

bool Resample(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
              const ResampleSize& size, ResampleScratch& scratch, RowReceiver& rows) {
  ResampleScratch::State& state = scratch.state();
  if (!state.vertical.Prepare(VerticalKey(source, box, filter, size)) ||
      !state.horizontal.Prepare(HorizontalKey(source, box, filter, size)))
    return false;
  Resampling resampling(source, size, state);
  return ColumnsFirst(filter, state.vertical, size) ? resampling.RunColumnsFirst(rows)
                                                    : resampling.RunRowsFirst(rows);
}

bool CopyRows(const PixelView& source, ResampleScratch& scratch, RowReceiver& rows) {
  StopCounter stop;
  AlignedValues& pixels = scratch.state().pixels;
  pixels.Resize(source.width * kPixelBytes / 2);
  for (int64_t y = 0; y < source.height; ++y) {
    auto* row = reinterpret_cast<uint8_t*>(pixels.data());
    SpreadRow(source, y, row);
    rows.Take(y, row);
    if (stop.Asked(source.width)) return false;
  }
  return true;
}

bool ResampleFloats(const float* in, int64_t height, int64_t width, int64_t row_stride,
                    const ResampleBox& box, ResampleFilter filter, const ResampleSize& size,
                    ResampleScratch& scratch, float* out) {
  ResampleScratch::State& state = scratch.state();
  const PixelView source{.height = height, .width = width, .channels = 1};
  if (!state.vertical.Prepare(VerticalKey(source, box, filter, size)) ||
      !state.horizontal.Prepare(HorizontalKey(source, box, filter, size)))
    return false;
  const AxisWeights &vertical = state.vertical, &horizontal = state.horizontal;
  std::vector<float>& line = state.floats;
  StopCounter stop;
  for (int64_t y = 0; y < size.height; ++y, out += size.width) {
    line.assign(static_cast<size_t>(horizontal.span()), 0.0f);
    for (int64_t t = 0; t < vertical.count(y); ++t) {
      const auto weight = static_cast<float>(vertical.exact(y)[t]);
      const float* row =
          in + (vertical.base() + vertical.first(y) + t) * row_stride + horizontal.base();
      for (size_t x = 0; x < line.size(); ++x) line[x] += weight * row[x];
    }
    for (int64_t x = 0; x < size.width; ++x) {
      const float* taps = line.data() + horizontal.first(x);
      float sum = 0;
      for (int64_t t = 0; t < horizontal.count(x); ++t)
        sum += static_cast<float>(horizontal.exact(x)[t]) * taps[t];
      out[x] = sum;
    }
    if (stop.Asked(vertical.count(y) * horizontal.span() + 2 * size.width * horizontal.pairs()))
      return false;
  }
  return true;
}

bool ResampleNearest(const std::byte* in, int64_t height, int64_t width, size_t value_size,
                     const ResampleBox& box, const ResampleSize& size, std::byte* out) {
  const AxisKey rows{ResampleFilter::kNearest, height, size.height, box.y, box.height, false};
  const AxisKey columns{ResampleFilter::kNearest, width, size.width, box.x, box.width, false};
  switch (value_size) {
    case 1: return TakeNearest<uint8_t>(in, rows, columns, out);
    case 2: return TakeNearest<uint16_t>(in, rows, columns, out);
    case 4: return TakeNearest<uint32_t>(in, rows, columns, out);
    case 8: return TakeNearest<uint64_t>(in, rows, columns, out);
  }
  return true;
}

bool ResampleNearest(const PixelView& box, int64_t y, int64_t x, const ResampleSize& size,
                     ResampleScratch& scratch, RowReceiver& rows) {
  const auto key = [](int64_t begin, int64_t extent, int64_t out) {
    return AxisKey{ResampleFilter::kNearest,    begin + extent, out, static_cast<double>(begin),
                   static_cast<double>(extent), false};
  };
  const AxisKey down = key(y, box.height, size.height), across = key(x, box.width, size.width);
  const int64_t step = box.planar() ? 1 : box.channels;
  const int64_t plane = box.planar() ? box.plane_stride : 1;
  AlignedValues& pixels = scratch.state().pixels;
  pixels.Resize(size.width * kPixelBytes / 2);
  StopCounter stop;
  for (int64_t row = 0; row < size.height; ++row) {
    const uint8_t* from = box.data + (NearestPixel(down, row) - y) * box.row_stride;
    auto* to = reinterpret_cast<uint8_t*>(pixels.data());
    for (int64_t column = 0; column < size.width; ++column, to += kPixelBytes) {
      const uint8_t* pixel = from + (NearestPixel(across, column) - x) * step;
      for (int64_t c = 0; c < box.channels; ++c) to[c] = pixel[c * plane];
    }
    rows.Take(row, reinterpret_cast<const uint8_t*>(pixels.data()));
    if (stop.Asked(size.width)) return false;
  }
  return true;
}

}  // namespace stoker
