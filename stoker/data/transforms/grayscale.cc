#include "stoker/data/transforms/grayscale.h"

#include <cstring>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/color_fields_internal.h"
#include "stoker/image/color.h"

namespace stoker {
namespace {

// Grey of some images; the shape stays.
struct RandomGraying {
  static constexpr std::string_view kName = Grayscale::kName;
  static constexpr bool kRandom = true;
  double probability = 1;

  Result<bool> Choose(const ImageShape& /*image*/, Rng& rng) const {
    return rng.Bernoulli(probability);
  }
  Result<Array> Change(const Array& array, const PairedField& /*field*/, bool gray,
                       Scratch& scratch) const {
    const ImageShape shape = ImageShapeOf(array);
    STOKER_RETURN_IF_ERROR(CheckColorChannels(kName, shape));
    if (!gray) return array;
    Array out = WritableImage(array, scratch);
    uint8_t* values = out.values<uint8_t>().data();
    ToGray(values, shape, values);
    return out;
  }
};

// Grey of all images, with a number of channels.
struct Graying {
  static constexpr std::string_view kName = Grayscale::kName;
  static constexpr bool kRandom = false;
  int64_t channels = 3;

  Result<bool> Choose(const ImageShape& /*image*/, Rng& /*rng*/) const { return true; }
  Result<Array> Change(const Array& array, const PairedField& /*field*/, bool /*gray*/,
                       Scratch& scratch) const {
    const ImageShape shape = ImageShapeOf(array);
    STOKER_RETURN_IF_ERROR(CheckColorChannels(kName, shape));
    if (shape.channels == 1 && channels == 1) return array;
    Array out = scratch.NewArray(array.dtype(), {channels, shape.height, shape.width});
    const auto* from = array.values<uint8_t>().data();
    auto* to = out.values<uint8_t>().data();
    if (shape.channels == channels) {
      ToGray(from, shape, to);
    } else if (channels == 1) {
      ToGrayPlane(from, shape, to);
    } else {
      const auto plane = static_cast<size_t>(shape.num_values());
      for (size_t c = 0; c < 3 && plane > 0; ++c) std::memcpy(to + c * plane, from, plane);
    }
    return out;
  }
};

}  // namespace

void Grayscale::Describe(OptionTable<Grayscale>& table) {
  table
      .Field("probability", &Grayscale::probability, "share of the images that are made grey",
             Between(0, 1))
      .Field("channels", &Grayscale::channels, "of the result: 3 equal ones, or 1", Between(1, 3));
  DescribeColorFields(table);
}

Result<Dataset> Grayscale::Build(Dataset input) const {
  const PairedNames names{field, images, {}};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindColorFields(kName, input.spec(), names));
  if (channels == 2 || (channels == 1 && probability < 1)) {
    return InvalidArgument(
        "grayscale: channels is {} and probability {}; channels must be 3, or 1 where probability "
        "is 1",
        channels, probability);
  }
  Spec output = input.spec();
  const std::string details =
      fmt::format("{}, {} channels, probability {}", NamesInShort(names), channels, probability);
  if (probability < 1) {
    return MapDataset(std::move(input), std::string(kName), details, std::move(output),
                      std::make_shared<PairedTransform<RandomGraying>>(std::move(fields),
                                                                       RandomGraying{probability}));
  }
  for (const PairedField& paired : fields) output.fields[paired.index].shape[0] = channels;
  return MapDataset(
      std::move(input), std::string(kName), details, std::move(output),
      std::make_shared<PairedTransform<Graying>>(std::move(fields), Graying{channels}));
}

}  // namespace stoker
