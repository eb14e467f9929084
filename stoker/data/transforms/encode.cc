#include "stoker/data/transforms/encode.h"

#include <cstring>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/image/encode.h"

namespace stoker {
namespace {

class EncodeTransform final : public Transform {
 public:
  EncodeTransform(size_t field, std::string name, const EncodeOptions& options)
      : field_(field), name_(std::move(name)), options_(options) {}

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    Array& image = element.arrays[field_];
    const Shape& shape = image.shape();
    const Result<std::string> file = EncodeImage({.data = image.values<uint8_t>().data(),
                                                  .height = shape[1],
                                                  .width = shape[2],
                                                  .channels = shape[0],
                                                  .row_stride = shape[2],
                                                  .plane_stride = shape[1] * shape[2]},
                                                 options_);
    if (!file.ok()) {
      return Status(file.status().code(),
                    fmt::format("encode: field '{}': {}", name_, file.status().message()));
    }
    Array bytes = scratch.NewArray(DType::kUInt8, {std::ssize(*file)});
    std::memcpy(bytes.data(), file->data(), file->size());
    image = std::move(bytes);
    return OkStatus();
  }

  bool random() const override { return false; }

 private:
  const size_t field_;
  const std::string name_;
  const EncodeOptions options_;
};

Status CheckPicture(const Field& field) {
  const bool picture =
      field.dtype == DType::kUInt8 && field.shape.size() == 3 &&
      (field.shape[0] == 1 || field.shape[0] == 3 || field.shape[0] == kUnknownDim);
  if (picture) return OkStatus();
  return InvalidArgument(
      "encode: field '{}' is {}{}; it must be uint8 [1 or 3, height, width], as `decode` gives it, "
      "before `normalize`, `cast`, `layout` and `batch`",
      field.name, DTypeName(field.dtype), ShapeToString(field.shape));
}

ChromaSubsampling SubsamplingOf(const std::string& name) {
  if (name == "444") return ChromaSubsampling::k444;
  return name == "422" ? ChromaSubsampling::k422 : ChromaSubsampling::k420;
}

}  // namespace

void Encode::Describe(OptionTable<Encode>& table) {
  table
      .Field("format", &Encode::format, "jpeg, or png, which loses nothing", OneOf{{"jpeg", "png"}})
      .Field("quality", &Encode::quality, "of a JPEG, 1 to 100", Between(1, 100))
      .Field("subsampling", &Encode::subsampling,
             "of a JPEG's colours: 444 (none), 422 (halved across), 420 (and down)",
             OneOf{{"444", "422", "420"}})
      .Field("field", &Encode::field, "field to encode");
}

Result<Dataset> Encode::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  STOKER_RETURN_IF_ERROR(CheckPicture(input.spec().fields[index]));
  const EncodeOptions options{.format = format == "png" ? ImageFormat::kPng : ImageFormat::kJpeg,
                              .quality = static_cast<int>(quality),
                              .subsampling = SubsamplingOf(subsampling)};
  Spec output = input.spec();
  output.fields[index].shape = {kUnknownDim};
  const std::string details =
      format == "png" ? fmt::format("{}, png", field)
                      : fmt::format("{}, jpeg, quality {}, {}", field, quality, subsampling);
  return MapDataset(std::move(input), std::string(kName), details, std::move(output),
                    std::make_shared<EncodeTransform>(index, field, options));
}

}  // namespace stoker
