#include "stoker/data/transforms/trivial_augment.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/augment_ops_internal.h"
#include "stoker/data/transforms/color_fields_internal.h"

namespace stoker {
namespace {

struct Augmenting {
  static constexpr std::string_view kName = TrivialAugment::kName;
  static constexpr bool kRandom = true;
  int64_t bins = 0;
  bool bilinear = false;

  Result<Augmentation> Choose(const ImageShape& image, Rng& rng) const {
    return DrawAugmentation(AugmentSpace::kTrivialAugmentWide, /*bin=*/-1, bins, image, rng);
  }
  Result<Array> Change(const Array& array, const PairedField& field, const Augmentation& change,
                       Scratch& scratch) const {
    return ApplyAugmentations(kName, array, field, {change}, bilinear, scratch);
  }
};

}  // namespace

void TrivialAugment::Describe(OptionTable<TrivialAugment>& table) {
  table
      .Field("bins", &TrivialAugment::bins, "strengths from none to the strongest",
             Between(2, 1000))
      .Field("interpolation", &TrivialAugment::interpolation, "how moved pixels are weighed",
             OneOf{{"nearest", "bilinear"}})
      .Field("fill", &TrivialAugment::fill, "value of pixels from outside the image")
      .Field("mask_fill", &TrivialAugment::mask_fill, "the same of masks");
  DescribePairedFields(table);
}

Result<Dataset> TrivialAugment::Build(Dataset input) const {
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindColorFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(SetFillValues(kName, input.spec(), fill, mask_fill, fields));
  Spec output = input.spec();
  const Augmenting plan{bins, interpolation == "bilinear"};
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {} bins, {}", NamesInShort(names), bins, interpolation),
                    std::move(output),
                    std::make_shared<PairedTransform<Augmenting>>(std::move(fields), plan));
}

}  // namespace stoker
