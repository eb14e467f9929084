// Shared by the transforms that move pixels: several images and masks of one sample use one draw,
// so that they stay aligned.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/fill_value.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/pictures/picture_plan.h"
#include "stoker/data/transforms/image_field_internal.h"

namespace stoker {

// One moved field. A mask holds classes, not brightness: its values are never mixed (nearest
// neighbour) and never changed.
struct PairedField {
  size_t index = 0;
  bool is_mask = false;
  FillValue fill;  // of pixels from outside, if the transform has some
};
using PairedFields = std::vector<PairedField>;

// The names of the fields that one transform moves together.
struct PairedNames {
  const std::string& field;
  const std::vector<std::string>& images;
  const std::vector<std::string>& masks;
};

// Finds the fields, which must be [channels, height, width] and differ. `who` is the transform, for
// messages.
Result<PairedFields> FindPairedFields(std::string_view who, const Spec& spec,
                                      const PairedNames& names);

// Sets the value of pixels from outside: `fill` in images, `mask_fill` in masks.
Status SetFillValues(std::string_view who, const Spec& spec, double fill, double mask_fill,
                     PairedFields& fields);

// Sets the height and width of the fields; -1 if unknown.
void SetSides(const PairedFields& fields, int64_t height, int64_t width, Spec& spec);

// Returns height and width of the fields of a sample, or of rows of samples, and the channels of
// the first. InvalidArgument if they differ in size; `key` is the sample's, for the message.
Result<ImageShape> SharedSize(std::string_view who, const SampleKey& key,
                              const std::vector<Array>& arrays, const PairedFields& fields);

// Returns the image itself if its memory is not shared, else a copy.
Array WritableImage(const Array& image, Scratch& scratch);

// Returns the border of the pictures of bytes in a field.
PictureBorder BorderBeside(const PairedField& field, Border mode);

// Returns their numbers, for PictureGeometry.
std::vector<size_t> NumbersOf(const PairedFields& fields);

// Returns whether all the pictures have one size at this point, as SharedSize requires.
bool OfOneSize(std::span<PicturePlan* const> plans);

// Returns "image", or "image, masks mask".
std::string NamesInShort(const PairedNames& names);

// Describes the options `field`, `images` and `masks` of T.
template <typename T>
void DescribePairedFields(OptionTable<T>& table) {
  table.Field("field", &T::field, "image to change")
      .Field("images", &T::images, "further images that get the same draw")
      .Field("masks", &T::masks,
             "masks that get the same draw: nearest neighbour, no change of values");
}

// Applies a geometry to all fields by one draw. Geometry has
//   kName, kRandom
//   Result<Draw> Choose(const ImageShape& size, Rng& rng) const
//   Result<Array> Change(const Array& array, const PairedField& field, const Draw& draw,
//                        Scratch& scratch) const
// and, if it can be described (picture_plan.h),
//   bool AddTo(PicturePlan& plan, const PairedField& field, const Draw& draw) const
template <typename Geometry>
class PairedTransform final : public Transform, public PictureGeometry {
 public:
  PairedTransform(PairedFields fields, Geometry geometry)
      : fields_(std::move(fields)), geometry_(std::move(geometry)) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    STOKER_ASSIGN_OR_RETURN(const ImageShape size,
                            SharedSize(Geometry::kName, element.key, element.arrays, fields_));
    STOKER_ASSIGN_OR_RETURN(const auto draw, geometry_.Choose(size, rng));
    for (const PairedField& field : fields_) {
      Array& array = element.arrays[field.index];
      STOKER_ASSIGN_OR_RETURN(array, geometry_.Change(array, field, draw, scratch));
    }
    return OkStatus();
  }

  bool random() const override { return Geometry::kRandom; }

  std::vector<size_t> picture_fields() const override {
    return kCanTell ? NumbersOf(fields_) : std::vector<size_t>();
  }
  bool AddTo(std::span<PicturePlan* const> plans, Rng& rng) const override {
    if constexpr (kCanTell) {
      const PicturePlan& first = *plans.front();
      const auto draw =
          geometry_.Choose(ImageShape{.height = first.height(), .width = first.width()}, rng);
      if (!draw.ok() || !OfOneSize(plans)) return false;
      for (size_t i = 0; i < plans.size(); ++i) {
        if (!geometry_.AddTo(*plans[i], fields_[i], *draw)) return false;
      }
      return true;
    }
    return false;
  }

 private:
  static constexpr bool kCanTell =
      requires(const Geometry& geometry, PicturePlan& plan, const PairedField& field,
               const ImageShape& size, Rng& rng) {
    geometry.AddTo(plan, field, *geometry.Choose(size, rng));
  };

  const PairedFields fields_;
  const Geometry geometry_;
};

}  // namespace stoker
