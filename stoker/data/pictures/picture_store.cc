#include "stoker/data/pictures/picture_store.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/data/pictures/picture_scratch.h"

namespace stoker {
namespace {

constexpr size_t kReadBehindRow = 64;  // what RowReceiver::Take may

// Stores all rows.
class SlotReceiver final : public RowReceiver {
 public:
  SlotReceiver(bool upside_down, const PixelFinish& finish, const PixelSlot& slot)
      : upside_down_(upside_down), finish_(finish), slot_(slot) {}

  void Take(int64_t y, const uint8_t* pixels) override {
    StoreRow(pixels, upside_down_ ? slot_.height - 1 - y : y, finish_, slot_);
  }

 private:
  const bool upside_down_;
  const PixelFinish& finish_;
  const PixelSlot& slot_;
};

// Hands on the rows of a window, in order, of a picture and the border around it.
class FrameReceiver final : public RowReceiver {
 public:
  // `picture`: its extents, from 0 on.
  FrameReceiver(const PicturePlan::Framed& framed, const CropWindow& picture, RowReceiver& next)
      : fill_(framed.border.fill), next_(next) {
    for (int64_t y = 0; y < framed.window.height; ++y) {
      rows_.emplace_back(PixelOf(framed.border.mode, framed.window.y + y, picture.height), y);
    }
    std::ranges::sort(rows_);  // in the order in which rows come
    for (int64_t x = 0; x < framed.window.width; ++x) {
      columns_.push_back(PixelOf(framed.border.mode, framed.window.x + x, picture.width));
    }
    row_.resize(columns_.size() * kPixelBytes + kReadBehindRow);
  }

  void Take(int64_t y, const uint8_t* pixels) override {
    HandOn(kFill, nullptr);
    HandOn(y, pixels);
  }

 private:
  static constexpr int64_t kFill = -1;

  // Which pixel of n shows at place i.
  static int64_t PixelOf(Border border, int64_t i, int64_t n) {
    if (border != Border::kConstant) return BorderPixel(border, i, n);
    return i >= 0 && i < n ? i : kFill;
  }

  // All rows that show this one.
  void HandOn(int64_t shown, const uint8_t* pixels) {
    if (done_ == rows_.size() || rows_[done_].first != shown) return;
    uint8_t* to = row_.data();
    for (const int64_t x : columns_) {
      if (pixels == nullptr || x == kFill) {
        std::memset(to, fill_, kPixelBytes);
      } else {
        std::memcpy(to, pixels + x * kPixelBytes, kPixelBytes);
      }
      to += kPixelBytes;
    }
    for (; done_ < rows_.size() && rows_[done_].first == shown; ++done_) {
      next_.Take(rows_[done_].second, row_.data());
    }
  }

  const uint8_t fill_;
  RowReceiver& next_;
  std::vector<std::pair<int64_t, int64_t>> rows_;  // of the picture, of the window
  size_t done_ = 0;                                // of them
  std::vector<int64_t> columns_;                   // of the picture
  std::vector<uint8_t> row_;
};

// Hands on the part of each row that lies in a window.
class WindowReceiver final : public RowReceiver {
 public:
  WindowReceiver(const CropWindow& window, RowReceiver& next) : window_(window), next_(next) {}

  void Take(int64_t y, const uint8_t* pixels) override {
    y -= window_.y;
    if (y >= 0 && y < window_.height) next_.Take(y, pixels + window_.x * kPixelBytes);
  }

 private:
  const CropWindow window_;
  RowReceiver& next_;
};

void MirrorRow(uint8_t* row, int64_t width, int channels) {
  for (uint8_t *left = row, *right = row + (width - 1) * channels; left < right;
       left += channels, right -= channels) {
    std::swap_ranges(left, left + channels, right);
  }
}

}  // namespace

void TurnBeforeResize(const PicturePlan& plan, int channels, const PixelRows& pixels) {
  if (!plan.resized()) return;
  const int64_t height = plan.region().height, width = plan.region().width;
  if (plan.resized()->mirrored) {
    for (int64_t y = 0; y < height; ++y) MirrorRow(pixels.row(y), width, channels);
  }
  if (plan.resized()->upside_down) {
    for (int64_t y = 0; y < height / 2; ++y) {
      std::swap_ranges(pixels.row(y), pixels.row(y) + width * channels, pixels.row(height - 1 - y));
    }
  }
}

bool StorePlanned(const PixelView& region, const PicturePlan& plan, const PixelFinish& finish,
                  const PixelSlot& slot) {
  ResampleScratch& scratch = ResampleScratchOfThisThread();
  SlotReceiver stored(plan.upside_down(), finish, slot);
  std::optional<FrameReceiver> framed;
  if (plan.framed()) framed.emplace(*plan.framed(), plan.window(), stored);
  WindowReceiver rows(plan.window(), framed ? static_cast<RowReceiver&>(*framed) : stored);
  if (!plan.resized()) return CopyRows(region, scratch, rows);
  const PicturePlan::Resized& resized = *plan.resized();
  const ResampleBox whole = ResampleBox::Whole(region);
  if (!CheckResample("one_pass", region, whole, resized.size).ok()) return false;
  if (resized.filter == ResampleFilter::kNearest)
    return ResampleNearest(region, resized.y, resized.x, resized.size, scratch, rows);
  if (ResampleTableBytes(region.height, region.width, whole, resized.filter, resized.size) >
      kMostUnchargedTables)
    return false;
  return Resample(region, whole, resized.filter, resized.size, scratch, rows);
}

}  // namespace stoker
