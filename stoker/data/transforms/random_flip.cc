#include "stoker/data/transforms/random_flip.h"

#include <algorithm>
#include <cstring>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/paired_fields_internal.h"
#include "stoker/image/flip.h"

namespace stoker {
namespace {

class RandomFlipTransform final : public Transform, public PictureGeometry {
 public:
  RandomFlipTransform(PairedFields fields, const RandomFlip& options)
      : fields_(std::move(fields)),
        probability_(options.probability),
        flip_(options.direction == "vertical" ? FlipVertically : FlipHorizontally) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    if (!rng.Bernoulli(probability_)) return OkStatus();
    for (const PairedField& field : fields_) {
      Array& image = element.arrays[field.index];
      const bool in_place = MayWriteInPlace(image);
      Array out = in_place ? image : scratch.NewArray(image.dtype(), image.shape());
      flip_(image.data(), ImageShapeOf(image), DTypeSize(image.dtype()), out.data());
      image = std::move(out);
    }
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    std::vector<bool> mirrored;
    for (const SampleKey& key : rows.keys)
      mirrored.push_back(rngs.For(key).Bernoulli(probability_));
    for (const PairedField& field : fields_) FlipRows(mirrored, rows.columns[field.index], scratch);
    return OkStatus();
  }

  bool works_on_columns() const override { return true; }

  std::vector<size_t> picture_fields() const override { return NumbersOf(fields_); }
  bool AddTo(std::span<PicturePlan* const> plans, Rng& rng) const override {
    if (!rng.Bernoulli(probability_)) return true;
    return std::ranges::all_of(plans, [&](PicturePlan* plan) {
      return flip_ == FlipHorizontally ? plan->Mirror() : plan->TurnUpside();
    });
  }

 private:
  void FlipRows(const std::vector<bool>& mirrored, Array& images, Scratch& scratch) const {
    const bool in_place = MayWriteInPlace(images);
    Array out = in_place ? images : scratch.NewArray(images.dtype(), images.shape());
    const ImageShape shape = ImageShapeOf(images);
    const size_t image_bytes = static_cast<size_t>(shape.num_values()) * DTypeSize(images.dtype());
    for (size_t i = 0; i < mirrored.size(); ++i) {
      const std::byte* from = images.data() + i * image_bytes;
      std::byte* to = out.data() + i * image_bytes;
      if (mirrored[i]) {
        flip_(from, shape, DTypeSize(images.dtype()), to);
      } else if (!in_place) {
        std::memcpy(to, from, image_bytes);
      }
    }
    images = std::move(out);
  }

  const PairedFields fields_;
  const double probability_;
  void (*const flip_)(const std::byte* in, const ImageShape& shape, size_t value_size,
                      std::byte* out);
};

}  // namespace

void RandomFlip::Describe(OptionTable<RandomFlip>& table) {
  table
      .Field("probability", &RandomFlip::probability, "share of the images that are mirrored",
             Between(0, 1))
      .Field("direction", &RandomFlip::direction,
             "horizontal swaps left and right, vertical swaps top and bottom",
             OneOf{{"horizontal", "vertical"}});
  DescribePairedFields(table);
}

Result<Dataset> RandomFlip::Build(Dataset input) const {
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  Spec output = input.spec();
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, {}, probability {}", NamesInShort(names), direction, probability),
      std::move(output), std::make_shared<RandomFlipTransform>(std::move(fields), *this));
}

}  // namespace stoker
