#include "stoker/data/transforms/mixup.h"

#include "stoker/base/permutation.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/beta_internal.h"
#include "stoker/data/transforms/mix_batch_internal.h"
#include "stoker/image/mix.h"

namespace stoker {
namespace {

class MixupTransform final : public MixBatchTransform {
 public:
  MixupTransform(const MixFields& fields, const Mixup& options)
      : MixBatchTransform(std::string(Mixup::kName), fields, options.probability),
        alpha_(options.alpha),
        per_sample_(options.per_sample) {}

 protected:
  void Mix(const MixedBatch& batch, std::span<const int64_t> /*image_shape*/,
           Rng& rng) const override {
    const IndexPermutation partner(static_cast<int64_t>(batch.samples), rng.NextU64(), 0, 0);
    uint32_t weight = DrawWeight(rng);
    for (size_t i = 0; i < batch.samples; ++i) {
      if (per_sample_ && i > 0) weight = DrawWeight(rng);
      MixSample(batch, i, static_cast<size_t>(partner(static_cast<int64_t>(i))), weight);
    }
  }

 private:
  // Lambda in 65536ths.
  uint32_t DrawWeight(Rng& rng) const {
    return static_cast<uint32_t>(DrawSymmetricBeta(rng, alpha_) * kWholeMixWeight + 0.5);
  }

  static void MixSample(const MixedBatch& batch, size_t i, size_t j, uint32_t weight) {
    const float share = static_cast<float>(weight) / static_cast<float>(kWholeMixWeight);
    const size_t n = batch.image_values;
    if (batch.dtype == DType::kUInt8) {
      const auto* images = reinterpret_cast<const uint8_t*>(batch.images);
      auto* mixed = reinterpret_cast<uint8_t*>(batch.mixed_images);
      MixValues(images + i * n, images + j * n, n, weight, mixed + i * n);
    } else {
      const auto* images = reinterpret_cast<const float*>(batch.images);
      auto* mixed = reinterpret_cast<float*>(batch.mixed_images);
      MixValues(images + i * n, images + j * n, n, share, mixed + i * n);
    }
    MixValues(batch.labels + i * batch.classes, batch.labels + j * batch.classes, batch.classes,
              share, batch.mixed_labels + i * batch.classes);
  }

  const double alpha_;
  const bool per_sample_;
};

}  // namespace

void Mixup::Describe(OptionTable<Mixup>& table) {
  table
      .Field("alpha", &Mixup::alpha,
             "lambda is drawn from Beta(alpha, alpha): small mixes little, 1 evenly",
             Between(kLeastAlpha, kMostAlpha))
      .Field("per_sample", &Mixup::per_sample, "a lambda for each sample instead of each batch")
      .Field("probability", &Mixup::probability, "share of the batches that are mixed",
             Between(0, 1))
      .Field("field", &Mixup::field, "field to mix, uint8 or float32")
      .Field("label", &Mixup::label, "field with the label distributions (one_hot)");
}

Result<Dataset> Mixup::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const MixFields fields, FindMixFields(kName, input.spec(), field, label));
  const DType dtype = input.spec().fields[fields.images].dtype;
  if (dtype != DType::kUInt8 && dtype != DType::kFloat32) {
    return InvalidArgument(
        "mixup: field '{}' is {}; it must be uint8 or float32: put `cast: {{field: {}, dtype: "
        "float32}}` in front",
        field, DTypeName(dtype), field);
  }
  Spec output = input.spec();
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {}, alpha {}{}, probability {}", field, label, alpha,
                                per_sample ? ", per sample" : "", probability),
                    std::move(output), std::make_shared<MixupTransform>(fields, *this));
}

}  // namespace stoker
