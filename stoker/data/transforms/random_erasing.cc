#include "stoker/data/transforms/random_erasing.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/draw_options_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/paired_fields_internal.h"
#include "stoker/image/erase.h"

namespace stoker {
namespace {

struct Erasing {
  static constexpr std::string_view kName = RandomErasing::kName;
  static constexpr bool kRandom = true;
  WindowRanges ranges;
  double probability = 0.5;
  // By field: the values of its channels in its dtype, or one for all.
  std::vector<std::vector<std::byte>> values;
  enum class Noise : uint8_t { kNone, kChannel, kPixel } noise = Noise::kNone;

  struct Draw {
    std::optional<CropWindow> window;
    uint64_t noise = 0;  // keys its stream
  };

  Result<Draw> Choose(const ImageShape& image, Rng& rng) const {
    Draw draw;
    if (!rng.Bernoulli(probability)) return draw;
    draw.window = DrawErasedWindow(image.height, image.width, ranges.area, ranges.ratio, rng);
    if (noise != Noise::kNone) draw.noise = rng.NextU64();
    return draw;
  }
  Result<Array> Change(const Array& array, const PairedField& field, const Draw& draw,
                       Scratch& scratch) const {
    const std::vector<std::byte>& value = values[field.index];
    const ImageShape shape = ImageShapeOf(array);
    const size_t value_size = DTypeSize(array.dtype());
    if (value.size() > value_size &&
        value.size() != static_cast<size_t>(shape.channels) * value_size) {
      return InvalidArgument("{}: value has {} numbers, an image {} channels; give one for each",
                             kName, value.size() / value_size, shape.channels);
    }
    if (!draw.window) return array;
    Array out = WritableImage(array, scratch);
    if (noise == Noise::kNone) {
      EraseWindow(out.data(), shape, value_size, *draw.window, value);
    } else {
      Rng stream(draw.noise, /*epoch=*/0, /*index=*/field.index, /*stage=*/0);
      EraseWindowWithNoise(out.values<float>().data(), shape, *draw.window, noise == Noise::kPixel,
                           stream);
    }
    return out;
  }
};

// The values in the field's dtype, side by side.
Result<std::vector<std::byte>> PlanValues(const std::vector<double>& values, const Field& field) {
  const int64_t channels = field.shape[0];
  const auto n = static_cast<int64_t>(values.size());
  if (n == 0 || (n > 1 && channels != kUnknownDim && channels != n)) {
    return InvalidArgument(
        "random_erasing: value has {} numbers, but field '{}' has shape {}; give one, or one for "
        "each channel",
        n, field.name, ShapeToString(field.shape));
  }
  std::vector<std::byte> bytes;
  for (const double value : values) {
    STOKER_ASSIGN_OR_RETURN(const FillValue fill,
                            MakeFillValue(RandomErasing::kName, "value", value, field));
    bytes.insert(bytes.end(), fill.bytes, fill.bytes + DTypeSize(field.dtype));
  }
  return bytes;
}

Result<Erasing::Noise> PlanNoise(const RandomErasing& options, const Spec& spec,
                                 const PairedFields& fields) {
  if (options.noise == "none") return Erasing::Noise::kNone;
  for (const PairedField& paired : fields) {
    const Field& field = spec.fields[paired.index];
    if (field.dtype == DType::kFloat32) continue;
    return InvalidArgument(
        "random_erasing: field '{}' is {}; noise of mean 0 and deviation 1 is for float32: put "
        "random_erasing after normalize",
        field.name, DTypeName(field.dtype));
  }
  if (options.value != RandomErasing().value) {
    return InvalidArgument("random_erasing: value is {} and noise is {}; give one of them",
                           fmt::join(options.value, " "), options.noise);
  }
  return options.noise == "pixel" ? Erasing::Noise::kPixel : Erasing::Noise::kChannel;
}

}  // namespace

void RandomErasing::Describe(OptionTable<RandomErasing>& table) {
  table.Field("probability", &RandomErasing::probability, "share of the images", Between(0, 1))
      .Field("scale", &RandomErasing::scale, "[least, most] share of the image's area",
             Between(0, 1))
      .Field("ratio", &RandomErasing::ratio, "[least, most] height by width of the window",
             OptionRange{.low = 0, .high = kMaxRatio, .low_open = true})
      .Field("value", &RandomErasing::value, "what is written: one value, or one for each channel")
      .Field("noise", &RandomErasing::noise,
             "normal numbers of mean 0 and deviation 1 instead of value: one for each channel, or "
             "for each pixel (torchvision's value='random')",
             OneOf{{"none", "channel", "pixel"}})
      .Field("field", &RandomErasing::field, "image to change")
      .Field("images", &RandomErasing::images, "further images that get the same draw");
}

Result<Dataset> RandomErasing::Build(Dataset input) const {
  Erasing plan{.probability = probability};
  STOKER_ASSIGN_OR_RETURN(plan.ranges, PlanWindow(kName, scale, ratio));
  const PairedNames names{field, images, {}};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_ASSIGN_OR_RETURN(plan.noise, PlanNoise(*this, input.spec(), fields));
  plan.values.resize(input.spec().fields.size());
  for (const PairedField& paired : fields) {
    STOKER_ASSIGN_OR_RETURN(plan.values[paired.index],
                            PlanValues(value, input.spec().fields[paired.index]));
  }
  Spec output = input.spec();
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, probability {}, scale {}, ratio {}, {} {}", NamesInShort(names), probability,
                  fmt::join(scale, " "), fmt::join(ratio, " "), noise == "none" ? "value" : "noise",
                  noise == "none" ? fmt::format("{}", fmt::join(value, " ")) : noise),
      std::move(output),
      std::make_shared<PairedTransform<Erasing>>(std::move(fields), std::move(plan)));
}

}  // namespace stoker
