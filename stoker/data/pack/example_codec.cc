#include "stoker/data/pack/example_codec.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "stoker/formats/array_bytes.h"
#include "stoker/formats/tfrecord/example_writer.h"
#include "stoker/image/cast.h"

namespace stoker::internal {
namespace {

std::string ShapeName(const Field& field) { return field.name + "/shape"; }

bool HasShapeFeature(const Field& field) {
  return field.shape.size() > 1 && !IsFullyKnown(field.shape);
}

FeatureKind KindOf(const Field& field) {
  switch (field.dtype) {
    case DType::kUInt8: return field.shape.empty() ? FeatureKind::kInt64 : FeatureKind::kBytes;
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32: return FeatureKind::kFloat;
    case DType::kFloat64: return FeatureKind::kMissing;
    default: return FeatureKind::kInt64;
  }
}

// `function` is called with a value of the C++ type that has this many bytes and this sign.
template <typename Function>
void WithIntegerType(DType dtype, Function function) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8: return function(uint8_t{});
    case DType::kInt8: return function(int8_t{});
    case DType::kInt16: return function(int16_t{});
    case DType::kInt32: return function(int32_t{});
    default: return function(int64_t{});
  }
}

template <typename T>
std::span<T> ValuesAs(const Array& array) {
  return {reinterpret_cast<T*>(array.data()), static_cast<size_t>(array.num_values())};
}

std::string EncodeInt64s(const Array& array) {
  std::vector<int64_t> wide;
  WithIntegerType(array.dtype(), [&](auto type) {
    const auto values = ValuesAs<const decltype(type)>(array);
    wide.assign(values.begin(), values.end());
  });
  return Int64Feature(wide);
}

std::string EncodeFloats(const Array& array) {
  if (array.dtype() == DType::kFloat32) return FloatFeature(array.values<float>());
  std::vector<float> wide;
  for (const uint16_t bits : ValuesAs<const uint16_t>(array)) {
    wide.push_back(array.dtype() == DType::kFloat16 ? Float16ToFloat(bits) : BFloat16ToFloat(bits));
  }
  return FloatFeature(wide);
}

Status DecodeInt64s(std::span<const std::byte> example, const FeatureValues& found,
                    const Array& out) {
  std::vector<int64_t> wide(static_cast<size_t>(out.num_values()));
  STOKER_RETURN_IF_ERROR(CopyInt64s(example, found, wide).status());
  bool fit = true;
  WithIntegerType(out.dtype(), [&](auto type) {
    using T = decltype(type);
    const auto values = ValuesAs<T>(out);
    for (size_t i = 0; i < wide.size(); ++i) {
      values[i] = static_cast<T>(wide[i]);
      fit = fit && static_cast<int64_t>(values[i]) == wide[i];
    }
  });
  return fit ? OkStatus() : DataLoss("a value is beyond {}", DTypeName(out.dtype()));
}

Status DecodeFloats(std::span<const std::byte> example, const FeatureValues& found,
                    const Array& out) {
  if (out.dtype() == DType::kFloat32)
    return CopyFloats(example, found, out.values<float>()).status();
  std::vector<float> wide(static_cast<size_t>(out.num_values()));
  STOKER_RETURN_IF_ERROR(CopyFloats(example, found, wide).status());
  std::ranges::transform(wide, ValuesAs<uint16_t>(out).begin(), [&](float value) {
    return out.dtype() == DType::kFloat16 ? FloatToFloat16(value) : FloatToBFloat16(value);
  });
  return OkStatus();
}

Result<std::span<const std::byte>> TheByteString(std::span<const std::byte> example,
                                                 const FeatureValues& found) {
  std::span<const std::byte> text;
  STOKER_ASSIGN_OR_RETURN(const int64_t count, FindByteStrings(example, found, {&text, 1}));
  if (count != 1) return DataLoss("there are {} byte strings, one was written", count);
  return text;
}

}  // namespace

Result<ExampleCodec> ExampleCodec::For(const Spec& spec) {
  if (spec.fields.empty()) return InvalidArgument("elements without a field cannot be packed");
  std::vector<std::string> names;
  for (const Field& field : spec.fields) {
    if (KindOf(field) == FeatureKind::kMissing) {
      return InvalidArgument(
          "tfrecord: field '{}' is {}, and a tf.train.Example holds float32 only; put `cast: "
          "{{field: {}, dtype: float32}}` at the end of the pipeline, or pack into .stoker",
          field.name, DTypeName(field.dtype), field.name);
    }
    names.push_back(field.name);
  }
  for (const Field& field : spec.fields) names.push_back(ShapeName(field));
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      return InvalidArgument("tfrecord: two features would be called '{}'; rename a field", name);
  }
  return ExampleCodec(spec, FeatureNames(std::move(names)));
}

std::string ExampleCodec::Encode(std::span<const Array> arrays) const {
  ExampleBuilder builder;
  for (size_t f = 0; f < arrays.size(); ++f) {
    const Field& field = spec_.fields[f];
    const Array& array = arrays[f];
    switch (KindOf(field)) {
      case FeatureKind::kBytes:
        builder.Add(field.name,
                    BytesFeature(std::string_view(reinterpret_cast<const char*>(array.data()),
                                                  array.num_bytes())));
        break;
      case FeatureKind::kFloat: builder.Add(field.name, EncodeFloats(array)); break;
      default: builder.Add(field.name, EncodeInt64s(array));
    }
    if (HasShapeFeature(field)) builder.Add(ShapeName(field), Int64Feature(array.shape()));
  }
  return builder.Example();
}

Result<Shape> ExampleCodec::ShapeOf(std::span<const std::byte> example, size_t f,
                                    std::span<const FeatureValues> found, int64_t values) const {
  const Field& field = spec_.fields[f];
  Shape shape = field.shape;
  if (HasShapeFeature(field)) {
    STOKER_ASSIGN_OR_RETURN(const int64_t extents,
                            CopyInt64s(example, found[spec_.fields.size() + f], shape));
    if (extents != std::ssize(shape))
      return DataLoss("feature '{}' has {} values", ShapeName(field), extents);
  } else if (!IsFullyKnown(shape)) {
    shape = {values};
  }
  const bool negative = std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; });
  const std::optional<uint64_t> bytes = negative ? std::nullopt : ArrayBytes(field.dtype, shape);
  if (!bytes || *bytes != static_cast<uint64_t>(values) * DTypeSize(field.dtype)) {
    return DataLoss("feature '{}' has {} values, its shape is {}", field.name, values,
                    ShapeToString(shape));
  }
  return shape;
}

Result<std::vector<Array>> ExampleCodec::Decode(std::span<const std::byte> example) const {
  std::vector<FeatureValues> found(names_.size());
  STOKER_RETURN_IF_ERROR(FindFeatures(example, names_, found));
  std::vector<Array> arrays;
  for (size_t f = 0; f < spec_.fields.size(); ++f) {
    const Field& field = spec_.fields[f];
    const FeatureKind kind = KindOf(field);
    if (found[f].kind != kind) {
      return DataLoss("feature '{}' has {}, written were {}", field.name,
                      FeatureKindName(found[f].kind), FeatureKindName(kind));
    }
    std::span<const std::byte> text;
    int64_t values = 0;
    if (kind == FeatureKind::kBytes) {
      STOKER_ASSIGN_OR_RETURN(text, TheByteString(example, found[f]));
      values = std::ssize(text);
    } else {
      STOKER_ASSIGN_OR_RETURN(values, CountValues(example, found[f]));
    }
    STOKER_ASSIGN_OR_RETURN(Shape shape, ShapeOf(example, f, found, values));
    Array array = Array::Allocate(field.dtype, std::move(shape));
    if (kind == FeatureKind::kBytes) {
      if (!text.empty()) std::memcpy(array.data(), text.data(), text.size());
    } else {
      STOKER_RETURN_IF_ERROR(kind == FeatureKind::kFloat ? DecodeFloats(example, found[f], array)
                                                         : DecodeInt64s(example, found[f], array));
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace stoker::internal
