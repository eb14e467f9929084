// What transforms do to one picture, told instead of done: so that it can be decoded, cut, resized,
// mirrored and normalised in one pass (rewrites/picture_pass.h). A transform that can say so
// implements one of the three interfaces below beside Transform. What it tells must give the bytes
// that Apply does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/data/element.h"
#include "stoker/image/crop.h"
#include "stoker/image/decode.h"
#include "stoker/image/normalize.h"
#include "stoker/image/resample.h"

namespace stoker {

// The geometry of a picture from its decoding on: a region of it, resized or not, of that a window,
// mirrored or not.
class PicturePlan {
 public:
  PicturePlan(int64_t height, int64_t width)
      : height_(height), width_(width), region_{.height = height, .width = width} {}

  // Of the picture after the steps so far, in pixels.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Each adds a step. False where the plan cannot hold it; it is not changed then.
  bool Crop(const CropWindow& window);  // a window that lies inside
  bool Resize(const CropWindow& window, ResampleFilter filter, const ResampleSize& size);
  bool Mirror();  // left becomes right

  const CropWindow& region() const { return region_; }  // of the decoded picture
  struct Resized {
    ResampleFilter filter;
    ResampleSize size;
  };
  const std::optional<Resized>& resized() const { return resized_; }  // what becomes of the region
  const CropWindow& window() const { return window_; }  // where it is resized, of that
  bool mirrored() const { return mirrored_; }           // at the end

 private:
  int64_t height_, width_;
  CropWindow region_;
  std::optional<Resized> resized_;
  CropWindow window_;
  bool mirrored_ = false;
};

// Decodes the bytes in one field.
class PictureDecoder {
 public:
  virtual ~PictureDecoder() = default;
  virtual size_t picture_field() const = 0;
  virtual const DecodeOptions& decode_options() const = 0;
  virtual int FastScaleOf(const ImageInfo& info) const = 0;
  // What messages call the picture of this element.
  virtual std::string PictureName(const Element& element) const = 0;
};

// Moves the pixels of one field.
class PictureGeometry {
 public:
  virtual ~PictureGeometry() = default;
  // Nothing where it cannot be told, or where it changes several fields.
  virtual std::optional<size_t> picture_field() const = 0;
  // Adds what Apply would do with this Rng. False where the plan cannot hold it, or it fails.
  virtual bool AddTo(PicturePlan& plan, Rng& rng) const = 0;
};

// Makes float32 of the bytes of one field.
class PictureFinishing {
 public:
  virtual ~PictureFinishing() = default;
  virtual std::optional<size_t> picture_field() const = 0;
  // For each of so many channels; nothing where they do not fit.
  virtual std::optional<std::vector<ShiftScale>> ShiftScales(int64_t channels) const = 0;
};

}  // namespace stoker
