// Shared by mixup and cutmix: every sample of a batch is mixed with a partner from the same batch,
// and so are the labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/data/core/spec.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// The memory of a batch being mixed: `samples` consecutive images and label distributions.
struct MixedBatch {
  DType dtype = DType::kUInt8;  // of the images
  size_t samples = 0;
  size_t image_values = 0;  // of one image
  size_t classes = 0;
  const std::byte* images = nullptr;
  const float* labels = nullptr;
  std::byte* mixed_images = nullptr;
  float* mixed_labels = nullptr;
};

// The two fields of a batch, checked.
struct MixFields {
  size_t images = 0;
  size_t labels = 0;
};

// Finds the fields and checks that the labels are float32 [samples, classes]. `who` is the
// transform. The messages say to put `one_hot` and `batch` before it if they are missing.
Result<MixFields> FindMixFields(std::string_view who, const Spec& spec, const std::string& images,
                                const std::string& labels);

// A transform of batches that mixes a share of them. Draws: one for whether, then those of Mix.
class MixBatchTransform : public Transform {
 public:
  MixBatchTransform(std::string who, const MixFields& fields, double probability)
      : who_(std::move(who)), fields_(fields), probability_(probability) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const final;
  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const final;
  bool works_on_columns() const final { return true; }

 protected:
  // Fills mixed_images and mixed_labels, every value; `image_shape` is one image's.
  virtual void Mix(const MixedBatch& batch, std::span<const int64_t> image_shape,
                   Rng& rng) const = 0;

 private:
  // Mixes the batch of `key` from two arrays into two others of the same shapes.
  Status MixOne(const SampleKey& key, const Array& images, const Array& labels,
                const Array& mixed_images, const Array& mixed_labels, Rng& rng) const;

  const std::string who_;
  const MixFields fields_;
  const double probability_;
};

}  // namespace stoker
