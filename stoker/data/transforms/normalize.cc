#include "stoker/data/transforms/normalize.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/short_text.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/pictures/picture_plan.h"
#include "stoker/data/rewrites/map_order.h"
#include "stoker/data/rewrites/picture_pass.h"
#include "stoker/image/moments.h"
#include "stoker/image/normalize.h"

namespace stoker {
namespace {

// Normalises one field, of one element or of many rows: the same work on one array.
class FieldTransform : public MovableTransform {
 public:
  explicit FieldTransform(size_t field) : field_(field) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const final {
    NormalizeArray(element.arrays[field_], 1, scratch);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const final {
    NormalizeArray(rows.columns[field_], rows.keys.size(), scratch);
    return OkStatus();
  }

  bool works_on_columns() const final { return true; }

 protected:
  virtual void NormalizeArray(Array& array, size_t samples, Scratch& scratch) const = 0;
  size_t field() const { return field_; }

 private:
  const size_t field_;
};

class NormalizeTransform final : public FieldTransform, public PictureFinishing {
 public:
  NormalizeTransform(size_t field, std::vector<ShiftScale> channels)
      : FieldTransform(field), channels_(std::move(channels)) {}

  std::optional<size_t> picture_field() const override { return field(); }
  // Constants of several channels are for the first dimension.
  bool AddTo(PictureFinish& finish, int64_t channels) const override {
    const auto wanted = static_cast<size_t>(channels);
    const bool alike = channels_.size() == 1;
    if (!finish.channels.empty() || finish.dtype != finish.computed) return false;
    if (!alike && (channels_.size() != wanted || finish.channels_last)) return false;
    finish.channels = alike ? std::vector<ShiftScale>(wanted, channels_.front()) : channels_;
    finish.dtype = finish.computed = DType::kFloat32;
    return true;
  }

 protected:
  void NormalizeArray(Array& array, size_t num_images, Scratch& scratch) const override {
    if (array.num_values() == 0) num_images = 0;
    const size_t planes = std::max<size_t>(1, num_images * channels_.size());
    const size_t plane_size = static_cast<size_t>(array.num_values()) / planes;
    if (array.dtype() == DType::kFloat32 && MayWriteInPlace(array)) {
      float* values = array.values<float>().data();
      NormalizeImages(values, num_images, plane_size, channels_, values);
      return;
    }
    Array out = scratch.NewArray(DType::kFloat32, array.shape());
    float* to = out.values<float>().data();
    if (array.dtype() == DType::kFloat32) {
      NormalizeImages(array.values<float>().data(), num_images, plane_size, channels_, to);
    } else {
      NormalizeImages(array.values<uint8_t>().data(), num_images, plane_size, channels_, to);
    }
    array = std::move(out);
  }

 private:
  const std::vector<ShiftScale> channels_;
};

// Of sequences [steps, n] and of pictures [H, W, C]: constants for each extent of the last
// dimension, one after the other in memory.
class NormalizeLastTransform final : public FieldTransform {
 public:
  NormalizeLastTransform(size_t field, std::vector<ShiftScale> constants)
      : FieldTransform(field), constants_(std::move(constants)) {}

 protected:
  void NormalizeArray(Array& array, size_t /*samples*/, Scratch& scratch) const override {
    const bool in_place = array.dtype() == DType::kFloat32 && MayWriteInPlace(array);
    Array out = in_place ? array : scratch.NewArray(DType::kFloat32, array.shape());
    float* to = out.values<float>().data();
    const auto n = static_cast<size_t>(array.num_values());
    if (array.dtype() == DType::kFloat32) {
      NormalizeSteps(array.values<float>().data(), n, to);
    } else {
      NormalizeSteps(array.values<uint8_t>().data(), n, to);
    }
    array = std::move(out);
  }

 private:
  // Rounded as in NormalizePlane: the difference, then the product.
  template <typename T>
  void NormalizeSteps(const T* in, size_t n, float* out) const {
    for (size_t begin = 0; begin < n; begin += constants_.size())
      for (size_t i = 0; i < constants_.size(); ++i)
        out[begin + i] =
            (static_cast<float>(in[begin + i]) - constants_[i].shift) * constants_[i].scale;
  }

  const std::vector<ShiftScale> constants_;
};

// Each sample by the moments of its own values.
class NormalizeBySampleTransform final : public FieldTransform {
 public:
  using FieldTransform::FieldTransform;

 protected:
  void NormalizeArray(Array& array, size_t samples, Scratch& scratch) const override {
    const size_t n = static_cast<size_t>(array.num_values()) / samples;
    const bool in_place = array.dtype() == DType::kFloat32 && MayWriteInPlace(array);
    Array out = in_place ? array : scratch.NewArray(DType::kFloat32, array.shape());
    float* to = out.values<float>().data();
    for (size_t begin = 0; n > 0 && begin < n * samples; begin += n) {
      if (array.dtype() == DType::kFloat32) {
        NormalizeSample(array.values<float>().data() + begin, n, to + begin);
      } else {
        NormalizeSample(array.values<uint8_t>().data() + begin, n, to + begin);
      }
    }
    array = std::move(out);
  }

 private:
  template <typename T>
  static void NormalizeSample(const T* in, size_t n, float* out) {
    const Moments moments = MomentsOf(in, n);
    const ShiftScale constants{.shift = static_cast<float>(moments.mean),
                               .scale = static_cast<float>(1 / moments.deviation)};
    // The reciprocal of a deviation that is zero, or too small for a float, is infinite.
    if (std::isinf(constants.scale)) {
      std::fill_n(out, n, 0.0f);
    } else {
      NormalizePlane(in, n, constants, out);
    }
  }
};

Status CheckDType(const Field& field) {
  if (field.dtype == DType::kUInt8 || field.dtype == DType::kFloat32) return OkStatus();
  const bool integer = field.dtype != DType::kFloat16 && field.dtype != DType::kBFloat16 &&
                       field.dtype != DType::kFloat64;
  return InvalidArgument(
      "normalize: field '{}' is {}; it must be uint8 or float32: {}", field.name,
      DTypeName(field.dtype),
      integer ? "where it has pixels of 0 to 255, give it `type: uint8` in its source's fields or "
                "put `cast: uint8` in front, else `cast: float32`"
              : "put `cast: float32` in front");
}

// Whether there is one constant, or one for each channel.
Status CheckChannels(const Normalize& options, const Field& field) {
  for (const auto& [name, list] :
       {std::pair{"mean", &options.mean}, std::pair{"std", &options.std}}) {
    if (list->empty())
      return InvalidArgument("normalize: {} is empty; give one value, or one for each channel",
                             name);
    if (list->size() == 1) continue;
    const bool last = options.by_last_dimension();
    const int64_t channels = field.shape.empty() ? 0
                             : last              ? field.shape.back()
                                                 : field.shape.front();
    if (static_cast<int64_t>(list->size()) == channels) continue;
    if (last)
      return InvalidArgument(
          "normalize: {} has {} values, but field '{}' has shape {}; with `per: last` give one "
          "value, or one for each extent of the last dimension",
          name, list->size(), field.name, ShapeToString(field.shape));
    return InvalidArgument(
        "normalize: {} has {} values, but field '{}' has shape {}, whose first dimension is the "
        "channels; give one value, or one for each channel; `per: last` has one for each extent of "
        "the last dimension",
        name, list->size(), field.name, ShapeToString(field.shape));
  }
  return OkStatus();
}

Result<Dataset> BuildPerSample(const Normalize& options, Dataset input, size_t index, Spec output) {
  const Normalize defaults;
  const bool figures = options.mean != defaults.mean || options.std != defaults.std;
  if (figures || options.scale || options.per != defaults.per) {
    return InvalidArgument(
        "normalize: per_sample takes mean and std from each sample; leave out mean, std, scale and "
        "per, or per_sample");
  }
  return MapDataset(std::move(input), std::string(Normalize::kName),
                    fmt::format("{}, per sample", options.field), std::move(output),
                    std::make_shared<NormalizeBySampleTransform>(index));
}

}  // namespace

void Normalize::Describe(OptionTable<Normalize>& table) {
  table
      .Field("mean", &Normalize::mean,
             "subtracted after scaling: one value, or one for each channel; auto: mean and std are "
             "learned from the training data")
      .Field("std", &Normalize::std, "divided by: one value, or one for each channel", MoreThan(0))
      .Field("scale", &Normalize::scale,
             "multiplied by first; auto: 1/255 for uint8, 1 for float32", MoreThan(0))
      .Field("per_sample", &Normalize::per_sample,
             "by the mean and the standard deviation of each sample's own values")
      .Field("field", &Normalize::field, "field to normalise")
      .Field(
          "per", &Normalize::per,
          "what has a mean of its own: each channel (the first dimension, such as the columns of "
          "a row), each extent of the last dimension (such as the numbers of a step of a "
          "sequence), or, where it is learned, the whole field",
          OneOf{{"channel", "last", "field"}});
}

double ScaleOf(const Normalize& options, DType dtype) {
  return options.scale.value_or(dtype == DType::kUInt8 ? 1.0 / 255 : 1.0);
}

Result<std::vector<ShiftScale>> NormalizeConstants(const Normalize& options, DType dtype) {
  const double scale = ScaleOf(options, dtype);
  const size_t count = std::max(options.mean.size(), options.std.size());
  for (const std::vector<double>& values : {options.mean, options.std}) {
    if (!values.empty() && (values.size() == 1 || values.size() == count)) continue;
    return InvalidArgument("normalize: {} means and {} stds; give one of each, or as many",
                           options.mean.size(), options.std.size());
  }
  std::vector<ShiftScale> channels;
  for (size_t c = 0; c < count; ++c) {
    const double mean = options.mean[options.mean.size() == 1 ? 0 : c];
    const double deviation = options.std[options.std.size() == 1 ? 0 : c];
    const ShiftScale constants{.shift = static_cast<float>(mean / scale),
                               .scale = static_cast<float>(scale / deviation)};
    const bool usable =
        std::isfinite(constants.shift) && std::isfinite(constants.scale) && constants.scale != 0;
    if (!usable || !(deviation > 0) || !(scale > 0)) {
      return InvalidArgument(
          "normalize: channel {}: mean {}, std {} and scale {} make constants that float32 cannot "
          "hold; check them",
          c, mean, deviation, scale);
    }
    channels.push_back(constants);
  }
  return channels;
}

Result<Dataset> Normalize::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  STOKER_RETURN_IF_ERROR(CheckDType(input.spec().fields[index]));
  Spec output = input.spec();
  output.fields[index].dtype = DType::kFloat32;
  if (per_sample) return BuildPerSample(*this, std::move(input), index, std::move(output));
  STOKER_RETURN_IF_ERROR(CheckChannels(*this, input.spec().fields[index]));
  STOKER_ASSIGN_OR_RETURN(std::vector<ShiftScale> channels,
                          NormalizeConstants(*this, input.spec().fields[index].dtype));
  std::string shown =
      fmt::format("{}, mean {}, std {}", field, ShortText(fmt::format("{}", fmt::join(mean, " "))),
                  ShortText(fmt::format("{}", fmt::join(std, " "))));
  if (by_last_dimension() && channels.size() > 1)
    return MapDataset(std::move(input), std::string(kName), std::move(shown), std::move(output),
                      std::make_shared<NormalizeLastTransform>(index, std::move(channels)));
  return InOnePass(MapDataset(std::move(input), std::string(kName), std::move(shown),
                              std::move(output),
                              std::make_shared<NormalizeTransform>(index, std::move(channels))));
}

}  // namespace stoker
