#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/image/encode_png.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/chart/chart_canvas.h"
#include "stoker/tools/chart/chart_font.h"

namespace stoker {
namespace {

constexpr int64_t kLetterScale = 2;  // pixels to a dot of a glyph
constexpr int64_t kAdvance = (kGlyphColumns + 1) * kLetterScale;

double DistanceToSegment(ChartPoint p, ChartPoint a, ChartPoint b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double along =
      squared > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / squared, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

class PixelCanvas final : public ChartCanvas {
 public:
  explicit PixelCanvas(ChartSize size)
      : size_(size),
        pixels_(Array::Allocate(DType::kUInt8, {size.height, size.width, 3})),
        covered_(static_cast<size_t>(size.width * size.height)) {
    std::memset(pixels_.data(), 255, pixels_.num_bytes());
  }

  // Every pixel is painted once, as far as the nearest segment covers it, so joints do not darken.
  void Line(const std::vector<ChartPoint>& points, double width, ChartColor color) override {
    std::ranges::fill(covered_, 0.0f);
    for (size_t i = 1; i < points.size(); ++i) Cover(points[i - 1], points[i], width / 2);
    for (size_t i = 0; i < covered_.size(); ++i) Paint(i, covered_[i], color);
  }

  void Text(ChartPoint at, ChartAnchor anchor, std::string_view text, ChartColor color) override {
    const auto length = static_cast<int64_t>(text.size()) * kAdvance - kLetterScale;
    int64_t x = std::lround(at.x);
    if (anchor == ChartAnchor::kMiddle) x -= length / 2;
    if (anchor == ChartAnchor::kEnd) x -= length;
    const int64_t y = std::lround(at.y) - kGlyphRows * kLetterScale;
    for (const char letter : text) {
      Letter(GlyphOf(letter), x, y, color);
      x += kAdvance;
    }
  }

  const Array& pixels() const { return pixels_; }

 private:
  void Cover(ChartPoint a, ChartPoint b, double half) {
    const auto begin = [&](double low) {
      return std::max<int64_t>(0, std::lround(low - half - 1));
    };
    const auto end = [&](double high, int64_t limit) {
      return std::min(limit, static_cast<int64_t>(std::lround(high + half + 2)));
    };
    for (int64_t y = begin(std::min(a.y, b.y)); y < end(std::max(a.y, b.y), size_.height); ++y) {
      for (int64_t x = begin(std::min(a.x, b.x)); x < end(std::max(a.x, b.x), size_.width); ++x) {
        const ChartPoint middle{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
        const double part = std::clamp(half + 0.5 - DistanceToSegment(middle, a, b), 0.0, 1.0);
        float& covered = covered_[static_cast<size_t>(y * size_.width + x)];
        covered = std::max(covered, static_cast<float>(part));
      }
    }
  }

  void Paint(size_t pixel, float part, ChartColor color) {
    if (part == 0) return;
    const uint8_t ink[] = {color.red, color.green, color.blue};
    for (size_t c = 0; c < 3; ++c) {
      uint8_t& value = pixels_.values<uint8_t>()[pixel * 3 + c];
      value = static_cast<uint8_t>(
          std::lround(static_cast<float>(value) * (1 - part) + static_cast<float>(ink[c]) * part));
    }
  }

  void Letter(std::string_view glyph, int64_t left, int64_t top, ChartColor color) {
    for (int64_t y = 0; y < kGlyphRows * kLetterScale; ++y) {
      for (int64_t x = 0; x < kGlyphColumns * kLetterScale; ++x) {
        const int64_t dot = y / kLetterScale * (kGlyphColumns + 1) + x / kLetterScale;
        const bool inside =
            left + x >= 0 && left + x < size_.width && top + y >= 0 && top + y < size_.height;
        if (!inside || glyph[static_cast<size_t>(dot)] != '#') continue;
        Paint(static_cast<size_t>((top + y) * size_.width + left + x), 1, color);
      }
    }
  }

  const ChartSize size_;
  Array pixels_;
  std::vector<float> covered_;
};

}  // namespace

Result<std::string> ChartToPng(const Chart& chart) {
  PixelCanvas canvas(SizeOf(chart));
  DrawChart(chart, canvas);
  return EncodePng(canvas.pixels());
}

}  // namespace stoker
