// Descriptions of what transforms do to a picture, so that it can be decoded, cropped, resized,
// mirrored and normalised in one pass (pictures/picture_chain.h). A transform that can describe its
// work implements one of the three interfaces below beside Transform. The description must give the
// bytes of Apply.
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

// The border around a picture.
struct PictureBorder {
  Border mode = Border::kConstant;
  uint8_t fill = 0;  // of kConstant
};

// The geometry of a picture after decoding: a region, mirrored or not, resized or not; then a
// window of the result, with a border or not, mirrored or not.
class PicturePlan {
 public:
  PicturePlan(int64_t height, int64_t width)
      : height_(height), width_(width), region_{.height = height, .width = width} {}

  // Return the extents of the picture after the steps so far, in pixels.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Each adds a step. Returns false, and does not change the plan, if the plan cannot hold it.
  bool Crop(const CropWindow& window);  // a window that lies inside
  bool CropOrPad(const CropWindow& window, const PictureBorder& border);  // or reaches outside
  bool Resize(const CropWindow& window, ResampleFilter filter, const ResampleSize& size);
  bool Mirror();      // left becomes right
  bool TurnUpside();  // top becomes bottom

  const CropWindow& region() const { return region_; }  // of the decoded picture
  struct Resized {
    ResampleFilter filter;
    ResampleSize size;
    int64_t y, x;                // where the region begins in the picture passed to Resize
    bool mirrored, upside_down;  // the region before
  };
  const std::optional<Resized>& resized() const { return resized_; }  // how the region is resized
  // Returns the window of the result.
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
  // Returns the window in coordinates before mirroring.
  CropWindow Unturned(const CropWindow& window) const;
  // Returns the window that the next crop changes.
  CropWindow& Outermost() { return framed_ ? framed_->window : resized_ ? window_ : region_; }

  int64_t height_, width_;
  CropWindow region_;
  std::optional<Resized> resized_;
  CropWindow window_;
  std::optional<Framed> framed_;
  bool mirrored_ = false;
  bool upside_down_ = false;
};

// The changes of the values of a picture of bytes after its geometry: normalised or not, then cast,
// and written in planes or as pixels.
struct PictureFinish {
  std::vector<ShiftScale> channels;  // one for each channel, or none
  DType computed = DType::kUInt8;    // the type before the cast to `dtype`: kUInt8 or kFloat32
  DType dtype = DType::kUInt8;
  bool channels_last = false;
};

// Decodes the bytes in one field.
class PictureDecoder {
 public:
  virtual ~PictureDecoder() = default;
  // Returns the field; nothing if the result is not a picture of bytes.
  virtual std::optional<size_t> picture_field() const = 0;
  virtual const DecodeOptions& decode_options() const = 0;
  virtual int FastScaleOf(const ImageInfo& info) const = 0;
};

// Moves the pixels of some fields by one draw.
class PictureGeometry {
 public:
  virtual ~PictureGeometry() = default;
  // Returns the fields; empty if the work cannot be described.
  virtual std::vector<size_t> picture_fields() const = 0;
  // Adds what Apply would do with this Rng to the plan of each field, in their order. Returns false
  // if a plan cannot hold it, or Apply would fail.
  virtual bool AddTo(std::span<PicturePlan* const> plans, Rng& rng) const = 0;
};

// Changes the values of one field, or their layout.
class PictureFinishing {
 public:
  virtual ~PictureFinishing() = default;
  // Returns the field; nothing if the work cannot be described.
  virtual std::optional<size_t> picture_field() const = 0;
  // Adds what Apply does to pictures of `channels` channels. Returns false if `finish` cannot hold
  // it.
  virtual bool AddTo(PictureFinish& finish, int64_t channels) const = 0;
};

}  // namespace stoker
