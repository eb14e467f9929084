#include "stoker/data/nodes/packed_members.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "stoker/formats/npy/npy.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/image/decode.h"
#include "stoker/io/byte_source.h"

namespace stoker {
namespace {

constexpr uint64_t kMostSchemaBytes = 64 << 20;

bool IsBytes(const ElementField& field) {
  return field.dtype == DType::kUInt8 && field.shape == Shape{kUnknownDim};
}

bool IsWholeNumber(const ElementField& field) {
  constexpr DType kIntegers[] = {DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32,
                                 DType::kInt64};
  return field.shape.empty() && std::ranges::find(kIntegers, field.dtype) != std::end(kIntegers);
}

// The extension by which WebDataset knows a whole number, or nothing.
std::string_view NumberExtension(std::string_view name) {
  constexpr std::string_view kNumbers[] = {"class", "cls", "cls2", "count", "id", "index", "inx"};
  if (name == "label") return "cls";
  return std::ranges::find(kNumbers, name) == std::end(kNumbers) ? "" : name;
}

std::string_view PictureExtension(std::span<const std::byte> bytes) {
  const Result<ImageFormat> format = DetectImageFormat(bytes, "");
  if (!format.ok()) return "bin";
  switch (*format) {
    case ImageFormat::kJpeg: return "jpg";
    case ImageFormat::kPng: return "png";
    case ImageFormat::kWebp: return "webp";
    case ImageFormat::kBmp: return "bmp";
    case ImageFormat::kPnm: return "ppm";
  }
  return "bin";
}

int64_t NumberIn(const Array& value) {
  switch (value.dtype()) {
    case DType::kUInt8: return value.values<uint8_t>()[0];
    case DType::kInt8: return value.values<int8_t>()[0];
    case DType::kInt16: return value.values<int16_t>()[0];
    case DType::kInt32: return value.values<int32_t>()[0];
    default: return value.values<int64_t>()[0];
  }
}

}  // namespace

SampleField PackedField(const ElementField& field) {
  if (IsBytes(field) && field.name == "image")
    return {field, {"jpg", "png", "webp", "bmp", "ppm", "bin"}, MemberContent::kBytes};
  if (IsBytes(field))
    return {field, {field.name == "text" ? "txt" : field.name}, MemberContent::kBytes};
  const std::string_view number = IsWholeNumber(field) ? NumberExtension(field.name) : "";
  if (!number.empty()) return {field, {std::string(number)}, MemberContent::kNumber};
  return {field, {field.name + ".npy"}, MemberContent::kArray};
}

std::string_view ExtensionFor(const SampleField& field, std::span<const std::byte> bytes) {
  return field.extensions.size() == 1 ? field.extensions.front() : PictureExtension(bytes);
}

Result<std::string> MemberOf(const SampleField& field, const Array& value) {
  if (field.content == MemberContent::kNumber) return std::to_string(NumberIn(value));
  std::string content;
  if (field.content == MemberContent::kArray) {
    STOKER_ASSIGN_OR_RETURN(content, NpyHeaderOf(value.dtype(), value.shape(), field.field.name));
  }
  content.append(reinterpret_cast<const char*>(value.data()), value.num_bytes());
  return content;
}

Result<std::optional<RecordSchema>> ReadPackedSchema(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  const Result<std::optional<TarMember>> member = TarReader(*input).Next();
  // What else may be wrong with the archive is found where its samples are read.
  if (!member.ok() || !*member || (*member)->name != kPackedSchemaMember) return std::nullopt;
  const auto damaged = [&](std::string_view what) {
    return DataLoss("{}: byte {}: '{}': {}", path, (*member)->data, kPackedSchemaMember, what);
  };
  if ((*member)->size > kMostSchemaBytes) return damaged("it is too large to be a schema");
  std::string text((*member)->size, '\0');
  STOKER_ASSIGN_OR_RETURN(
      const size_t got,
      input->ReadAt((*member)->data, std::as_writable_bytes(std::span(text.data(), text.size()))));
  if (got != text.size()) return damaged("the archive ends in the middle of it");
  Result<RecordSchema> schema = ParseRecordSchema(text);
  if (!schema.ok()) return damaged(schema.status().message());
  return std::optional(*std::move(schema));
}

}  // namespace stoker
