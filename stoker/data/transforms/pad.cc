#include "stoker/data/transforms/pad.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/crop_array_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/paired_fields_internal.h"

namespace stoker {
namespace {

struct Padding {
  static constexpr std::string_view kName = Pad::kName;
  static constexpr bool kRandom = false;
  int64_t left = 0, top = 0, right = 0, bottom = 0;
  Border border = Border::kConstant;

  Result<CropWindow> Choose(const ImageShape& image, Rng& /*rng*/) const {
    STOKER_RETURN_IF_ERROR(CheckBorder(kName, border, image));
    return CropWindow{-top, -left, image.height + top + bottom, image.width + left + right};
  }
  Result<Array> Change(const Array& array, const PairedField& field, const CropWindow& window,
                       Scratch& scratch) const {
    return CropArray(array, window, border, field.fill, scratch);
  }
  bool AddTo(PicturePlan& plan, const PairedField& field, const CropWindow& window) const {
    return plan.CropOrPad(window, BorderBeside(field, border));
  }
};

Result<Padding> PlanPadding(const std::vector<int64_t>& p) {
  switch (p.size()) {
    case 1: return Padding{p[0], p[0], p[0], p[0]};
    case 2: return Padding{p[0], p[1], p[0], p[1]};
    case 4: return Padding{p[0], p[1], p[2], p[3]};
  }
  return InvalidArgument(
      "pad: padding has {} values; give one for all sides, two (left and right, top and bottom), "
      "or four (left, top, right, bottom)",
      p.size());
}

}  // namespace

void Pad::Describe(OptionTable<Pad>& table) {
  table
      .Field("padding", &Pad::padding,
             "pixels on all sides; [left and right, top and bottom]; or [left, top, right, bottom]",
             Between(0, kMaxPixels))
      .Required()
      .Field("fill", &Pad::fill, "value of the border")
      .Field("mask_fill", &Pad::mask_fill, "value of the border of masks");
  DescribePaddingMode(table);
  DescribePairedFields(table);
}

Result<Dataset> Pad::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(Padding plan, PlanPadding(padding));
  plan.border = BorderOf(padding_mode);
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(SetFillValues(kName, input.spec(), fill, mask_fill, fields));
  Spec output = input.spec();
  for (const PairedField& paired : fields) {
    Shape& shape = output.fields[paired.index].shape;
    if (shape[1] != kUnknownDim) shape[1] += plan.top + plan.bottom;
    if (shape[2] != kUnknownDim) shape[2] += plan.left + plan.right;
  }
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, by {}, {}", NamesInShort(names), fmt::join(padding, " "), padding_mode),
      std::move(output), std::make_shared<PairedTransform<Padding>>(std::move(fields), plan));
}

}  // namespace stoker
