#include "stoker/data/transforms/mix_batch_internal.h"

#include <cstring>

#include "stoker/data/core/field_option.h"

namespace stoker {
namespace {

void CopyValues(const Array& from, const Array& to) {
  if (from.num_bytes() > 0) std::memcpy(to.data(), from.data(), from.num_bytes());
}

}  // namespace

Result<MixFields> FindMixFields(std::string_view who, const Spec& spec, const std::string& images,
                                const std::string& labels) {
  MixFields fields;
  STOKER_ASSIGN_OR_RETURN(fields.images, IndexOfOption(spec, who, "field", images));
  STOKER_ASSIGN_OR_RETURN(fields.labels, IndexOfOption(spec, who, "label", labels));
  const Field& label = spec.fields[fields.labels];
  if (label.dtype != DType::kFloat32) {
    return InvalidArgument(
        "{}: field '{}' is {}, but mixed samples have mixed labels: float32 distributions over the "
        "classes; put `one_hot: {{classes: ..., field: {}}}` in front",
        who, labels, DTypeName(label.dtype), labels);
  }
  const Field& image = spec.fields[fields.images];
  if (label.shape.size() != 2 || image.shape.size() < 2) {
    return InvalidArgument(
        "{}: field '{}' has shape {} and '{}' has {}, but samples are mixed with others of their "
        "batch: [samples, ...] and [samples, classes] are needed; put it after `batch`, and where "
        "a label is one number give it the shape [1] before that",
        who, images, ShapeToString(image.shape), labels, ShapeToString(label.shape));
  }
  return fields;
}

Status MixBatchTransform::Apply(Element& element, Rng& rng, Scratch& scratch) const {
  if (!rng.Bernoulli(probability_)) return OkStatus();
  Array& images = element.arrays[fields_.images];
  Array& labels = element.arrays[fields_.labels];
  Array mixed_images = scratch.NewArray(images.dtype(), images.shape());
  Array mixed_labels = scratch.NewArray(labels.dtype(), labels.shape());
  STOKER_RETURN_IF_ERROR(MixOne(element.key, images, labels, mixed_images, mixed_labels, rng));
  images = std::move(mixed_images);
  labels = std::move(mixed_labels);
  return OkStatus();
}

Status MixBatchTransform::ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const {
  Array& images = rows.columns[fields_.images];
  Array& labels = rows.columns[fields_.labels];
  Array mixed_images = scratch.NewArray(images.dtype(), images.shape());
  Array mixed_labels = scratch.NewArray(labels.dtype(), labels.shape());
  for (int64_t i = 0; i < rows.size(); ++i) {
    const SampleKey& key = rows.keys[static_cast<size_t>(i)];
    Rng rng = rngs.For(key);
    if (rng.Bernoulli(probability_)) {
      STOKER_RETURN_IF_ERROR(
          MixOne(key, images.Row(i), labels.Row(i), mixed_images.Row(i), mixed_labels.Row(i), rng));
    } else {
      CopyValues(images.Row(i), mixed_images.Row(i));
      CopyValues(labels.Row(i), mixed_labels.Row(i));
    }
  }
  images = std::move(mixed_images);
  labels = std::move(mixed_labels);
  return OkStatus();
}

Status MixBatchTransform::MixOne(const SampleKey& key, const Array& images, const Array& labels,
                                 const Array& mixed_images, const Array& mixed_labels,
                                 Rng& rng) const {
  const int64_t samples = images.shape()[0];
  if (labels.shape()[0] != samples) {
    return InvalidArgument("{}: batch {} has {} images and {} labels; it needs one for each", who_,
                           key.index, samples, labels.shape()[0]);
  }
  if (samples == 0) return OkStatus();
  Mix({.dtype = images.dtype(),
       .samples = static_cast<size_t>(samples),
       .image_values = static_cast<size_t>(images.num_values() / samples),
       .classes = static_cast<size_t>(labels.shape()[1]),
       .images = images.data(),
       .labels = labels.values<float>().data(),
       .mixed_images = mixed_images.data(),
       .mixed_labels = mixed_labels.values<float>().data()},
      std::span(images.shape()).subspan(1), rng);
  return OkStatus();
}

}  // namespace stoker
