#include "stoker/data/transforms/decode_npy.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/bytes_field_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/picture_names_internal.h"
#include "stoker/formats/npy/npy.h"

namespace stoker {
namespace {

class DecodeNpyTransform final : public Transform {
 public:
  DecodeNpyTransform(size_t field, DType dtype, Shape shape, PictureNames names)
      : field_(field), dtype_(dtype), shape_(std::move(shape)), names_(std::move(names)) {}

  bool random() const override { return false; }

  Status Apply(Element& element, Rng&, Scratch&) const override {
    const Array& bytes = element.arrays[field_];
    const std::string name = names_.NameOf(element);
    STOKER_ASSIGN_OR_RETURN(Array array,
                            ParseNpy(bytes.buffer(), {bytes.data(), bytes.num_bytes()}, name));
    const bool fits = array.dtype() == dtype_ && array.shape().size() == shape_.size() &&
                      std::ranges::equal(array.shape(), shape_, [](int64_t extent, int64_t wanted) {
                        return wanted == kUnknownDim || extent == wanted;
                      });
    if (!fits) {
      return DataLoss("{}: decode_npy: it is {}, wanted are {}{}; set type and shape", name,
                      array.ToString(), DTypeName(dtype_), ShapeToString(shape_));
    }
    element.arrays[field_] = std::move(array);
    return OkStatus();
  }

 private:
  const size_t field_;
  const DType dtype_;
  const Shape shape_;
  const PictureNames names_;
};

}  // namespace

void DecodeNpy::Describe(OptionTable<DecodeNpy>& table) {
  table.Field("shape", &DecodeNpy::shape, "of the arrays; -1: any extent", Between(-1, kMostExtent))
      .Required();
  table.Field("field", &DecodeNpy::field, "field with the bytes of a .npy file")
      .Field("type", &DecodeNpy::type, "of the arrays",
             OneOf{{"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32",
                    "float64"}});
}

Result<Dataset> DecodeNpy::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, BytesField(input, kName, field));
  STOKER_ASSIGN_OR_RETURN(const DType dtype, ParseDType(type));
  Spec output = input.spec();
  output.fields[index] = {field, dtype, shape};
  auto transform =
      std::make_shared<DecodeNpyTransform>(index, dtype, shape, PictureNames(input, index));
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {}{}", field, type, ShapeToString(shape)), std::move(output),
                    std::move(transform));
}

}  // namespace stoker
