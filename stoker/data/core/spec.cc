#include "stoker/data/core/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/base/buffer.h"
#include "stoker/base/config.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

std::optional<int64_t> FieldBytes(const Field& field) {
  std::optional<int64_t> bytes = static_cast<int64_t>(DTypeSize(field.dtype));
  for (const int64_t extent : field.shape) {
    if (extent == kUnknownDim) return std::nullopt;
    bytes = MultiplySizes(bytes, extent);
  }
  return bytes;
}

// What Buffer::Allocate takes for so many bytes.
std::optional<int64_t> BlockBytes(std::optional<int64_t> bytes) {
  constexpr auto kAlignment = static_cast<int64_t>(kBufferAlignment);
  const std::optional<int64_t> padded = AddSizes(bytes, kAlignment - 1);
  if (!padded) return std::nullopt;
  return std::max(kAlignment, *padded / kAlignment * kAlignment);
}

}  // namespace

std::string Field::ToString() const {
  return fmt::format("{}: {}{}", name, DTypeName(dtype), ShapeToString(shape));
}

Result<size_t> Spec::IndexOf(std::string_view who, std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  constexpr size_t kMostShown = 8;
  Spec shown = *this;
  shown.fields.resize(std::min(fields.size(), kMostShown));
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  const std::string nearest = NearestName(name, names);
  return InvalidArgument(
      "{}: there is no field '{}'; the elements are {}{}{}", who, ShortText(name), shown.ToString(),
      fields.size() == shown.fields.size()
          ? ""
          : fmt::format(" and {} fields more", fields.size() - kMostShown),
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", ShortText(nearest)));
}

std::optional<int64_t> AddSizes(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

std::optional<int64_t> MultiplySizes(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

std::optional<int64_t> Spec::ElementBytes() const {
  std::optional<int64_t> bytes = 0;
  for (const Field& field : fields) bytes = AddSizes(bytes, FieldBytes(field));
  return bytes;
}

std::optional<int64_t> Spec::BytesApart(int64_t count) const {
  std::optional<int64_t> bytes = 0;
  for (const Field& field : fields) bytes = AddSizes(bytes, BlockBytes(FieldBytes(field)));
  return MultiplySizes(bytes, count);
}

std::optional<int64_t> Spec::BytesTogether(int64_t count) const {
  std::optional<int64_t> bytes = 0;
  for (const Field& field : fields) {
    bytes = AddSizes(bytes, BlockBytes(MultiplySizes(FieldBytes(field), count)));
  }
  return bytes;
}

std::string Spec::ToString() const {
  std::vector<std::string> texts;
  for (const Field& field : fields) texts.push_back(field.ToString());
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

}  // namespace stoker
