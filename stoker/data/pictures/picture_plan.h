// What transforms do to one picture, told instead of done: so that it can be decoded, cut, resized,
// mirrored and normalised in one pass (pictures/picture_chain.h). A transform that can say so
// implements one of the three interfaces below beside Transform. What it tells must give the bytes
// that Apply does.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/random.h"
#include "stoker/data/core/element.h"
#include "stoker/image/border.h"
#include "stoker/image/decode.h"
#include "stoker/image/normalize.h"
#include "stoker/image/resample.h"

namespace stoker {

// What stands beside a picture.
struct PictureBorder {
  Border mode = Border::kConstant;
  uint8_t fill = 0;  // of kConstant
};

// The geometry of a picture from its decoding on: a region of it, mirrored or not, resized or not,
// of that a window, with a border or not, mirrored or not.
class PicturePlan {
 public:
  PicturePlan(int64_t height, int64_t width)
      : height_(height), width_(width), region_{.height = height, .width = width} {}

  // Of the picture after the steps so far, in pixels.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Each adds a step. False if the plan cannot hold it; it is not changed then.
  bool Crop(const CropWindow& window);  // a window that lies inside
  bool CropOrPad(const CropWindow& window, const PictureBorder& border);  // or reaches outside
  bool Resize(const CropWindow& window, ResampleFilter filter, const ResampleSize& size);
  bool Mirror();      // left becomes right
  bool TurnUpside();  // top becomes bottom

  const CropWindow& region() const { return region_; }  // of the decoded picture
  struct Resized {
    ResampleFilter filter;
    ResampleSize size;
    int64_t y, x;                // where the region begins in the picture that Resize was told of
    bool mirrored, upside_down;  // the region before
  };
  const std::optional<Resized>& resized() const { return resized_; }  // what becomes of the region
  // Then, of that.
  CropWindow window() const {
    return resized_ ? window_ : CropWindow{.height = region_.height, .width = region_.width};
  }
  struct Framed {
    CropWindow window;  // of the picture so far, and beyond
    PictureBorder border;
  };
  const std::optional<Framed>& framed() const { return framed_; }  // then
  bool mirrored() const { return mirrored_; }                      // at the end
  bool upside_down() const { return upside_down_; }                // at the end

 private:
  // The window where nothing is mirrored yet.
  CropWindow Unturned(const CropWindow& window) const;
  // What the next crop cuts.
  CropWindow& Outermost() { return framed_ ? framed_->window : resized_ ? window_ : region_; }

  int64_t height_, width_;
  CropWindow region_;
  std::optional<Resized> resized_;
  CropWindow window_;
  std::optional<Framed> framed_;
  bool mirrored_ = false;
  bool upside_down_ = false;
};

// What becomes of the values of a picture of bytes behind its geometry: they are normalised or not,
// then cast, and written in planes or as pixels.
struct PictureFinish {
  std::vector<ShiftScale> channels;  // one for each channel, or none
  DType computed = DType::kUInt8;    // what is cast to `dtype`: kUInt8 or kFloat32
  DType dtype = DType::kUInt8;
  bool channels_last = false;
};

// Decodes the bytes in one field.
class PictureDecoder {
 public:
  virtual ~PictureDecoder() = default;
  // Nothing if what it makes is no picture of bytes.
  virtual std::optional<size_t> picture_field() const = 0;
  virtual const DecodeOptions& decode_options() const = 0;
  virtual int FastScaleOf(const ImageInfo& info) const = 0;
};

// Moves the pixels of some fields by one draw.
class PictureGeometry {
 public:
  virtual ~PictureGeometry() = default;
  // Empty if what it does cannot be told.
  virtual std::vector<size_t> picture_fields() const = 0;
  // Adds what Apply would do with this Rng to the plan of each field, in their order. False if a
  // plan cannot hold it, or Apply fails.
  virtual bool AddTo(std::span<PicturePlan* const> plans, Rng& rng) const = 0;
};

// Changes the values of one field, or the order in which they stand.
class PictureFinishing {
 public:
  virtual ~PictureFinishing() = default;
  // Nothing if it cannot be told.
  virtual std::optional<size_t> picture_field() const = 0;
  // Adds what Apply does to pictures of so many channels. False if that cannot be held.
  virtual bool AddTo(PictureFinish& finish, int64_t channels) const = 0;
};

}  // namespace stoker
