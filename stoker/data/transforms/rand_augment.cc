#include "stoker/data/transforms/rand_augment.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/augment_ops_internal.h"
#include "stoker/data/transforms/color_fields_internal.h"

namespace stoker {
namespace {

struct Augmenting {
  static constexpr std::string_view kName = RandAugment::kName;
  static constexpr bool kRandom = true;
  int64_t ops = 0, magnitude = 0, bins = 0;
  bool bilinear = false;

  Result<std::vector<Augmentation>> Choose(const ImageShape& image, Rng& rng) const {
    std::vector<Augmentation> changes;
    for (int64_t i = 0; i < ops; ++i) {
      changes.push_back(DrawAugmentation(AugmentSpace::kRandAugment, magnitude, bins, image, rng));
    }
    return changes;
  }
  Result<Array> Change(const Array& array, const PairedField& field,
                       const std::vector<Augmentation>& changes, Scratch& scratch) const {
    return ApplyAugmentations(kName, array, field, changes, bilinear, scratch);
  }
};

}  // namespace

void RandAugment::Describe(OptionTable<RandAugment>& table) {
  table.Field("ops", &RandAugment::ops, "changes one after the other", Between(0, 100))
      .Field("magnitude", &RandAugment::magnitude, "how strong, 0..bins - 1", Between(0, 999))
      .Field("bins", &RandAugment::bins, "strengths from none to the strongest", Between(2, 1000))
      .Field("interpolation", &RandAugment::interpolation, "how moved pixels are weighed",
             OneOf{{"nearest", "bilinear"}})
      .Field("fill", &RandAugment::fill, "value of pixels from outside the image")
      .Field("mask_fill", &RandAugment::mask_fill, "the same of masks");
  DescribePairedFields(table);
}

Result<Dataset> RandAugment::Build(Dataset input) const {
  if (magnitude >= bins) {
    return InvalidArgument("rand_augment: magnitude is {}, but there are {} bins; it must be below",
                           magnitude, bins);
  }
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindColorFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(SetFillValues(kName, input.spec(), fill, mask_fill, fields));
  Spec output = input.spec();
  const Augmenting plan{ops, magnitude, bins, interpolation == "bilinear"};
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {} ops, magnitude {} of {}, {}", NamesInShort(names), ops,
                                magnitude, bins, interpolation),
                    std::move(output),
                    std::make_shared<PairedTransform<Augmenting>>(std::move(fields), plan));
}

}  // namespace stoker
