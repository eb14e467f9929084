#include "stoker/data/transforms/random_erasing.h"

#include "stoker/data/map.h"
#include "stoker/data/transforms/draw_options_internal.h"
#include "stoker/data/transforms/paired_fields_internal.h"
#include "stoker/image/erase.h"

namespace stoker {
namespace {

constexpr double kMaxRatio = 1000;

struct Erasing {
  static constexpr std::string_view kName = RandomErasing::kName;
  static constexpr bool kRandom = true;
  WindowRanges ranges;
  double probability = 0.5;
  // By field: the values of its channels in its dtype, or one for all.
  std::vector<std::vector<std::byte>> values;

  Result<std::optional<CropWindow>> Choose(const ImageShape& image, Rng& rng) const {
    std::optional<CropWindow> none;
    if (!rng.Bernoulli(probability)) return none;
    return DrawErasedWindow(image.height, image.width, ranges.area, ranges.ratio, rng);
  }
  Result<Array> Change(const Array& array, const PairedField& field,
                       const std::optional<CropWindow>& window, Scratch& scratch) const {
    const std::vector<std::byte>& value = values[field.index];
    const ImageShape shape = ImageShapeOf(array);
    const size_t value_size = DTypeSize(array.dtype());
    if (value.size() > value_size &&
        value.size() != static_cast<size_t>(shape.channels) * value_size) {
      return InvalidArgument("{}: value has {} numbers, an image {} channels; give one for each",
                             kName, value.size() / value_size, shape.channels);
    }
    if (!window) return array;
    Array out = WritableImage(array, scratch);
    EraseWindow(out.data(), shape, value_size, *window, value);
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

}  // namespace

void RandomErasing::Describe(OptionTable<RandomErasing>& table) {
  table.Field("probability", &RandomErasing::probability, "share of the images", Between(0, 1))
      .Field("scale", &RandomErasing::scale, "[least, most] share of the image's area",
             Between(0, 1))
      .Field("ratio", &RandomErasing::ratio, "[least, most] height by width of the window",
             OptionRange{.low = 0, .high = kMaxRatio, .low_open = true})
      .Field("value", &RandomErasing::value, "what is written: one value, or one for each channel")
      .Field("field", &RandomErasing::field, "image to change")
      .Field("images", &RandomErasing::images, "further images that get the same draw");
}

Result<Dataset> RandomErasing::Build(Dataset input) const {
  Erasing plan{.probability = probability};
  STOKER_ASSIGN_OR_RETURN(plan.ranges, PlanWindow(kName, scale, ratio));
  const PairedNames names{field, images, {}};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  plan.values.resize(input.spec().fields.size());
  for (const PairedField& paired : fields) {
    STOKER_ASSIGN_OR_RETURN(plan.values[paired.index],
                            PlanValues(value, input.spec().fields[paired.index]));
  }
  Spec output = input.spec();
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, probability {}, scale {}, ratio {}, value {}", NamesInShort(names),
                  probability, fmt::join(scale, " "), fmt::join(ratio, " "), fmt::join(value, " ")),
      std::move(output),
      std::make_shared<PairedTransform<Erasing>>(std::move(fields), std::move(plan)));
}

}  // namespace stoker
