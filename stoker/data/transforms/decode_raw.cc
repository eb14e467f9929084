#include "stoker/data/transforms/decode_raw.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/bytes_field_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/picture_names_internal.h"
#include "stoker/formats/array_bytes.h"
#include "stoker/formats/chunked/stored_values.h"

namespace stoker {
namespace {

struct RawType {
  std::string_view name;
  StoredValue stored;
};
constexpr RawType kTypes[] = {
    {"bool", {StoredKind::kBool, 1}},         {"uint8", {StoredKind::kUnsigned, 1}},
    {"int8", {StoredKind::kSigned, 1}},       {"int16", {StoredKind::kSigned, 2}},
    {"int32", {StoredKind::kSigned, 4}},      {"int64", {StoredKind::kSigned, 8}},
    {"uint16", {StoredKind::kUnsigned, 2}},   {"uint32", {StoredKind::kUnsigned, 4}},
    {"uint64", {StoredKind::kUnsigned, 8}},   {"float16", {StoredKind::kFloat, 2}},
    {"bfloat16", {StoredKind::kBFloat16, 2}}, {"float32", {StoredKind::kFloat, 4}},
    {"float64", {StoredKind::kFloat, 8}}};

std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
  for (const RawType& type : kTypes) names.emplace_back(type.name);
  return names;
}

class DecodeRawTransform final : public Transform {
 public:
  // `row`: bytes of one part of an unknown first extent, or of all.
  DecodeRawTransform(size_t field, const StoredValue& stored, DType dtype, Shape shape,
                     uint64_t row, PictureNames names)
      : field_(field),
        stored_(stored),
        dtype_(dtype),
        shape_(std::move(shape)),
        row_(row),
        names_(std::move(names)) {}

  bool random() const override { return false; }

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    Array& bytes = element.arrays[field_];
    const uint64_t there = bytes.num_bytes();
    const bool loose = !shape_.empty() && shape_.front() == kUnknownDim;
    if (loose ? there % row_ != 0 : there != row_) {
      return DataLoss("{}: decode_raw: {} bytes are there, {} values of shape {} take {}{}",
                      names_.NameOf(element), there, DTypeName(dtype_), ShapeToString(shape_),
                      loose ? "a multiple of " : "", row_);
    }
    Shape shape = shape_;
    if (loose) shape.front() = static_cast<int64_t>(there / row_);
    if (stored_.IsNative() && reinterpret_cast<uintptr_t>(bytes.data()) % DTypeSize(dtype_) == 0) {
      bytes = Array(bytes.buffer(), dtype_, std::move(shape),
                    static_cast<size_t>(bytes.data() - bytes.buffer().data()));
      return OkStatus();
    }
    Array out = scratch.NewArray(dtype_, std::move(shape));
    if (there > 0) std::memcpy(out.data() + (out.num_bytes() - there), bytes.data(), there);
    const Status status = ConvertStored(stored_, out.data(), static_cast<size_t>(out.num_values()));
    if (!status.ok()) {
      return Status(status.code(),
                    fmt::format("{}: decode_raw: {}", names_.NameOf(element), status.message()));
    }
    bytes = std::move(out);
    return OkStatus();
  }

 private:
  const size_t field_;
  const StoredValue stored_;
  const DType dtype_;
  const Shape shape_;
  const uint64_t row_;
  const PictureNames names_;
};

// Bytes of one part of an unknown first extent, or of all.
Result<uint64_t> RowBytes(const StoredValue& stored, DType dtype, const Shape& shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 0 || (d == 0 && shape[d] == kUnknownDim)) continue;
    return InvalidArgument(
        "decode_raw: extent {} of the shape is {}; extents are 1 or more, the first may be -1", d,
        shape[d]);
  }
  Shape row = shape;
  if (!row.empty() && row.front() == kUnknownDim) row.front() = 1;
  const std::optional<uint64_t> bytes = ArrayBytes(dtype, row);
  if (bytes) return *bytes / DTypeSize(dtype) * stored.bytes;
  return InvalidArgument("decode_raw: shape {} has more values than can be", ShapeToString(shape));
}

}  // namespace

void DecodeRaw::Describe(OptionTable<DecodeRaw>& table) {
  table.Field("field", &DecodeRaw::field, "field with the bytes")
      .Field("type", &DecodeRaw::type,
             "of the values; uint16 becomes int32, uint32 and uint64 become int64",
             OneOf{TypeNames()})
      .Field("shape", &DecodeRaw::shape,
             "of the array; a first extent of -1: as long as the bytes last",
             Between(-1, kMostExtent))
      .Field("big_endian", &DecodeRaw::big_endian, "most significant byte first");
}

Result<Dataset> DecodeRaw::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, BytesField(input, kName, field));
  StoredValue stored = std::ranges::find(kTypes, type, &RawType::name)->stored;
  stored.big_endian = big_endian;
  STOKER_ASSIGN_OR_RETURN(const DType dtype, stored.ToDType());
  STOKER_ASSIGN_OR_RETURN(const uint64_t row, RowBytes(stored, dtype, shape));
  Spec output = input.spec();
  output.fields[index] = {field, dtype, shape};
  auto transform = std::make_shared<DecodeRawTransform>(index, stored, dtype, shape, row,
                                                        PictureNames(input, index));
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {}{}", field, type, ShapeToString(shape)), std::move(output),
                    std::move(transform));
}

}  // namespace stoker
