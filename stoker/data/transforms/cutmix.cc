#include "stoker/data/transforms/cutmix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/base/permutation.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/beta_internal.h"
#include "stoker/data/transforms/mix_batch_internal.h"
#include "stoker/image/mix.h"

namespace stoker {
namespace {

// Half-open, in pixels, inside the image.
struct Box {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  int64_t area() const { return (bottom - top) * (right - left); }
};

struct Side {
  int64_t begin = 0, end = 0;
};

// A stretch of `extent` * `ratio` pixels around a random one of them, cut off at the ends.
Side DrawSide(Rng& rng, int64_t extent, double ratio) {
  const auto length = static_cast<int64_t>(static_cast<double>(extent) * ratio);
  const auto centre = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(extent)));
  const int64_t begin = centre - length / 2;
  return {std::max<int64_t>(begin, 0), std::min(begin + length, extent)};
}

class CutmixTransform final : public MixBatchTransform {
 public:
  CutmixTransform(const MixFields& fields, const Cutmix& options)
      : MixBatchTransform(std::string(Cutmix::kName), fields, options.probability),
        alpha_(options.alpha),
        per_sample_(options.per_sample) {}

 protected:
  void Mix(const MixedBatch& batch, std::span<const int64_t> image_shape, Rng& rng) const override {
    const IndexPermutation partner(static_cast<int64_t>(batch.samples), rng.NextU64(), 0, 0);
    const int64_t height = image_shape[1], width = image_shape[2];
    Box box = DrawBox(rng, height, width);
    for (size_t i = 0; i < batch.samples; ++i) {
      if (per_sample_ && i > 0) box = DrawBox(rng, height, width);
      const auto j = static_cast<size_t>(partner(static_cast<int64_t>(i)));
      Paste(batch, i, j, box, height, width);
      const int64_t pixels = std::max<int64_t>(height * width, 1);
      const auto share =
          static_cast<float>(1 - static_cast<double>(box.area()) / static_cast<double>(pixels));
      MixValues(batch.labels + i * batch.classes, batch.labels + j * batch.classes, batch.classes,
                share, batch.mixed_labels + i * batch.classes);
    }
  }

 private:
  Box DrawBox(Rng& rng, int64_t height, int64_t width) const {
    const double ratio = std::sqrt(1 - DrawSymmetricBeta(rng, alpha_));
    if (height == 0 || width == 0) return {};
    const Side vertical = DrawSide(rng, height, ratio);
    const Side horizontal = DrawSide(rng, width, ratio);
    return {vertical.begin, vertical.end, horizontal.begin, horizontal.end};
  }

  // Image i with the box of image j.
  static void Paste(const MixedBatch& batch, size_t i, size_t j, const Box& box, int64_t height,
                    int64_t width) {
    const size_t value = DTypeSize(batch.dtype), image = batch.image_values * value;
    if (image == 0) return;
    std::byte* out = batch.mixed_images + i * image;
    std::memcpy(out, batch.images + i * image, image);
    const std::byte* from = batch.images + j * image;
    const size_t row = static_cast<size_t>(width) * value;
    const size_t left = static_cast<size_t>(box.left) * value;
    const size_t run = static_cast<size_t>(box.right - box.left) * value;
    const size_t plane = static_cast<size_t>(height) * row;
    for (size_t begin = 0; begin < image; begin += plane) {
      for (int64_t y = box.top; y < box.bottom; ++y) {
        const size_t at = begin + static_cast<size_t>(y) * row + left;
        std::memcpy(out + at, from + at, run);
      }
    }
  }

  const double alpha_;
  const bool per_sample_;
};

}  // namespace

void Cutmix::Describe(OptionTable<Cutmix>& table) {
  table
      .Field("alpha", &Cutmix::alpha,
             "lambda, the share that stays, is drawn from Beta(alpha, alpha)",
             Between(kLeastAlpha, kMostAlpha))
      .Field("per_sample", &Cutmix::per_sample, "a box for each sample instead of each batch")
      .Field("probability", &Cutmix::probability, "share of the batches that are mixed",
             Between(0, 1))
      .Field("field", &Cutmix::field, "field with the images")
      .Field("label", &Cutmix::label, "field with the label distributions (one_hot)");
}

Result<Dataset> Cutmix::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const MixFields fields, FindMixFields(kName, input.spec(), field, label));
  const Shape& shape = input.spec().fields[fields.images].shape;
  if (shape.size() != 4) {
    return InvalidArgument(
        "cutmix: field '{}' has shape {}; boxes are cut from [samples, channels, height, width]: "
        "put it after `batch`, or name another field",
        field, ShapeToString(shape));
  }
  Spec output = input.spec();
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {}, alpha {}{}, probability {}", field, label, alpha,
                                per_sample ? ", per sample" : "", probability),
                    std::move(output), std::make_shared<CutmixTransform>(fields, *this));
}

}  // namespace stoker
