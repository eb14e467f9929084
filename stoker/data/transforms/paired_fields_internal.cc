#include "stoker/data/transforms/paired_fields_internal.h"

#include <algorithm>
#include <cstring>

#include "stoker/data/core/field_option.h"

namespace stoker {

Result<PairedFields> FindPairedFields(std::string_view who, const Spec& spec,
                                      const PairedNames& names) {
  PairedFields fields;
  const auto add = [&](std::string_view option, const std::string& name) -> Status {
    STOKER_RETURN_IF_ERROR(IndexOfOption(spec, who, option, name).status());
    STOKER_ASSIGN_OR_RETURN(const size_t index, FindImageField(who, spec, name));
    for (const PairedField& other : fields) {
      if (other.index == index)
        return InvalidArgument("{}: field '{}' is named twice; name each image and mask once", who,
                               name);
    }
    fields.push_back({.index = index, .is_mask = option == "masks"});
    return OkStatus();
  };
  STOKER_RETURN_IF_ERROR(add("field", names.field));
  for (const std::string& name : names.images) STOKER_RETURN_IF_ERROR(add("images", name));
  for (const std::string& name : names.masks) STOKER_RETURN_IF_ERROR(add("masks", name));
  return fields;
}

Status SetFillValues(std::string_view who, const Spec& spec, double fill, double mask_fill,
                     PairedFields& fields) {
  for (PairedField& field : fields) {
    STOKER_ASSIGN_OR_RETURN(
        field.fill, MakeFillValue(who, field.is_mask ? "mask_fill" : "fill",
                                  field.is_mask ? mask_fill : fill, spec.fields[field.index]));
  }
  return OkStatus();
}

void SetSides(const PairedFields& fields, int64_t height, int64_t width, Spec& spec) {
  for (const PairedField& field : fields) {
    spec.fields[field.index].shape[1] = height;
    spec.fields[field.index].shape[2] = width;
  }
}

Result<ImageShape> SharedSize(std::string_view who, const SampleKey& key,
                              const std::vector<Array>& arrays, const PairedFields& fields) {
  const ImageShape first = ImageShapeOf(arrays[fields.front().index]);
  for (const PairedField& field : fields) {
    const ImageShape shape = ImageShapeOf(arrays[field.index]);
    if (shape.height != first.height || shape.width != first.width) {
      return InvalidArgument(
          "{}: element {}: fields {} and {} are {} x {} and {} x {}; what goes through one draw "
          "must be of one size: put resize before one of them",
          who, key.index, fields.front().index, field.index, first.height, first.width,
          shape.height, shape.width);
    }
  }
  return first;
}

Array WritableImage(const Array& image, Scratch& scratch) {
  if (MayWriteInPlace(image)) return image;
  Array copy = scratch.NewArray(image.dtype(), image.shape());
  if (image.num_bytes() > 0) std::memcpy(copy.data(), image.data(), image.num_bytes());
  return copy;
}

PictureBorder BorderBeside(const PairedField& field, Border mode) {
  return {.mode = mode, .fill = std::to_integer<uint8_t>(field.fill.bytes[0])};
}

std::vector<size_t> NumbersOf(const PairedFields& fields) {
  std::vector<size_t> numbers;
  for (const PairedField& field : fields) numbers.push_back(field.index);
  return numbers;
}

bool OfOneSize(std::span<PicturePlan* const> plans) {
  return std::ranges::all_of(plans, [&](const PicturePlan* plan) {
    return plan->height() == plans.front()->height() && plan->width() == plans.front()->width();
  });
}

std::string NamesInShort(const PairedNames& names) {
  std::string text = names.field;
  if (!names.images.empty()) text += fmt::format(", images {}", fmt::join(names.images, " "));
  if (!names.masks.empty()) text += fmt::format(", masks {}", fmt::join(names.masks, " "));
  return text;
}

}  // namespace stoker
