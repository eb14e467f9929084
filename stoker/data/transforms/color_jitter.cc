#include "stoker/data/transforms/color_jitter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/color_fields_internal.h"
#include "stoker/data/transforms/image_draws_internal.h"
#include "stoker/image/color.h"

namespace stoker {
namespace {

constexpr double kMaxJitter = 100;

// Brightness, contrast, saturation and hue, in this order everywhere.
struct Jittering {
  static constexpr std::string_view kName = ColorJitter::kName;
  static constexpr bool kRandom = true;
  std::array<double, 4> strengths{};
  double probability = 1;

  struct Draw {
    bool changes = false;
    std::array<int, 4> order{0, 1, 2, 3};
    std::array<double, 4> factors{};
  };

  Result<Draw> Choose(const ImageShape& /*image*/, Rng& rng) const {
    Draw draw;
    draw.changes = rng.Bernoulli(probability);
    if (!draw.changes) return draw;
    for (size_t i = 3; i > 0; --i) std::swap(draw.order[i], draw.order[rng.Below(i + 1)]);
    for (size_t i = 0; i < 4; ++i) {
      const double strength = strengths[i];
      if (strength == 0) continue;
      const DrawRange range = i == 3 ? DrawRange{-strength, strength}
                                     : DrawRange{std::max(0.0, 1 - strength), 1 + strength};
      draw.factors[i] = range.Draw(rng);
    }
    return draw;
  }

  Result<Array> Change(const Array& array, const PairedField& /*field*/, const Draw& draw,
                       Scratch& scratch) const {
    const ImageShape shape = ImageShapeOf(array);
    STOKER_RETURN_IF_ERROR(CheckColorChannels(kName, shape));
    if (!draw.changes) return array;
    Array out = WritableImage(array, scratch);
    uint8_t* values = out.values<uint8_t>().data();
    for (const int what : draw.order) {
      const double factor = draw.factors[static_cast<size_t>(what)];
      if (strengths[static_cast<size_t>(what)] == 0) continue;
      switch (what) {
        case 0: AdjustBrightness(values, shape, static_cast<float>(factor), values); break;
        case 1: AdjustContrast(values, shape, factor, values); break;
        case 2: AdjustSaturation(values, shape, factor, values); break;
        default: AdjustHue(values, shape, static_cast<float>(factor), values); break;
      }
    }
    return out;
  }
};

}  // namespace

void ColorJitter::Describe(OptionTable<ColorJitter>& table) {
  table
      .Field("brightness", &ColorJitter::brightness, "how far the factor lies from 1",
             Between(0, kMaxJitter))
      .Field("contrast", &ColorJitter::contrast, "how far the factor lies from 1",
             Between(0, kMaxJitter))
      .Field("saturation", &ColorJitter::saturation, "how far the factor lies from 1",
             Between(0, kMaxJitter))
      .Field("hue", &ColorJitter::hue, "how far the hue is turned, in full turns", Between(0, 0.5))
      .Field("probability", &ColorJitter::probability, "share of the images that are changed",
             Between(0, 1));
  DescribeColorFields(table);
}

Result<Dataset> ColorJitter::Build(Dataset input) const {
  const PairedNames names{field, images, {}};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindColorFields(kName, input.spec(), names));
  const Jittering plan{{brightness, contrast, saturation, hue}, probability};
  Spec output = input.spec();
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, brightness {}, contrast {}, saturation {}, hue {}, probability {}",
                  NamesInShort(names), brightness, contrast, saturation, hue, probability),
      std::move(output), std::make_shared<PairedTransform<Jittering>>(std::move(fields), plan));
}

}  // namespace stoker
