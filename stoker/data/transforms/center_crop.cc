#include "stoker/data/transforms/center_crop.h"

#include <cmath>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/crop_array_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/resize_array_internal.h"

namespace stoker {
namespace {

struct CenterCropping {
  static constexpr std::string_view kName = CenterCrop::kName;
  static constexpr bool kRandom = false;
  ResampleSize size;

  // Where the window begins along one side. torchvision rounds halves to even where it cuts, and
  // puts the larger half of a border at the end where it adds one.
  static int64_t Begin(int64_t image, int64_t window) {
    if (window > image) return -((window - image) / 2);
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(image - window) / 2));
  }

  Result<CropWindow> Choose(const ImageShape& image, Rng& /*rng*/) const {
    return CropWindow{Begin(image.height, size.height), Begin(image.width, size.width), size.height,
                      size.width};
  }
  Result<Array> Change(const Array& array, const PairedField& field, const CropWindow& window,
                       Scratch& scratch) const {
    return CropArray(array, window, Border::kConstant, field.fill, scratch);
  }
  bool AddTo(PicturePlan& plan, const PairedField& field, const CropWindow& window) const {
    return plan.CropOrPad(window, BorderBeside(field, Border::kConstant));
  }
};

}  // namespace

void CenterCrop::Describe(OptionTable<CenterCrop>& table) {
  table
      .Field("size", &CenterCrop::size,
             "height and width of the window in pixels; 0: by height and width",
             Between(0, kMaxPixels))
      .Field("height", &CenterCrop::height, "height where it is not the width",
             Between(0, kMaxPixels))
      .Field("width", &CenterCrop::width, "width where it is not the height",
             Between(0, kMaxPixels))
      .Field("fill", &CenterCrop::fill, "value around images that are smaller")
      .Field("mask_fill", &CenterCrop::mask_fill, "the same of masks");
  DescribePairedFields(table);
}

Result<Dataset> CenterCrop::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const ResampleSize window, PlanSize(kName, size, height, width));
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(SetFillValues(kName, input.spec(), fill, mask_fill, fields));
  Spec output = input.spec();
  SetSides(fields, window.height, window.width, output);
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, {} x {}", NamesInShort(names), window.height, window.width),
      std::move(output),
      std::make_shared<PairedTransform<CenterCropping>>(std::move(fields), CenterCropping{window}));
}

}  // namespace stoker
