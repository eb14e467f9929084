#include "stoker/data/transforms/random_flip.h"

#include <cstring>

#include "stoker/data/map.h"
#include "stoker/data/transforms/image_field_internal.h"
#include "stoker/image/flip.h"

namespace stoker {
namespace {

class RandomFlipTransform final : public Transform {
 public:
  RandomFlipTransform(size_t field, const RandomFlip& options)
      : field_(field),
        probability_(options.probability),
        flip_(options.direction == "vertical" ? FlipVertically : FlipHorizontally) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    if (!rng.Bernoulli(probability_)) return OkStatus();
    Array& image = element.arrays[field_];
    const bool in_place = MayWriteInPlace(image);
    Array out = in_place ? image : scratch.NewArray(image.dtype(), image.shape());
    flip_(image.data(), ImageShapeOf(image), DTypeSize(image.dtype()), out.data());
    image = std::move(out);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    Array& images = rows.columns[field_];
    const bool in_place = MayWriteInPlace(images);
    Array out = in_place ? images : scratch.NewArray(images.dtype(), images.shape());
    const ImageShape shape = ImageShapeOf(images);
    const size_t image_bytes = static_cast<size_t>(shape.num_values()) * DTypeSize(images.dtype());
    for (size_t i = 0; i < rows.keys.size(); ++i) {
      const std::byte* from = images.data() + i * image_bytes;
      std::byte* to = out.data() + i * image_bytes;
      if (rngs.For(rows.keys[i]).Bernoulli(probability_)) {
        flip_(from, shape, DTypeSize(images.dtype()), to);
      } else if (!in_place) {
        std::memcpy(to, from, image_bytes);
      }
    }
    images = std::move(out);
    return OkStatus();
  }

  bool works_on_columns() const override { return true; }

 private:
  const size_t field_;
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
             OneOf{{"horizontal", "vertical"}})
      .Field("field", &RandomFlip::field, "field to mirror");
}

Result<Dataset> RandomFlip::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, FindImageField(kName, input.spec(), field));
  Spec output = input.spec();
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {}, probability {}", field, direction, probability),
                    std::move(output), std::make_shared<RandomFlipTransform>(index, *this));
}

}  // namespace stoker
