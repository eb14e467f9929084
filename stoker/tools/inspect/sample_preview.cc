#include "stoker/tools/inspect/sample_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "stoker/base/json_text.h"
#include "stoker/base/utf8.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/image/cast.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kMostCharacters = 60;  // bytes of a text
constexpr size_t kMostValues = 6;       // of an array

// One value of any length: what files hold and columns of text are.
bool IsByteString(const Field& field) {
  return field.dtype == DType::kUInt8 && field.shape == Shape{kUnknownDim};
}

std::string_view BytesOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

bool IsText(std::string_view bytes) {
  const auto shown = [](char c) { return c == '\t' || c == '\n' || c == '\r' || (c & 0xe0) != 0; };
  return IsUtf8(bytes) && std::ranges::all_of(bytes, shown);
}

// Cut between two characters.
std::string Shortened(std::string_view text) {
  if (text.size() <= kMostCharacters) return std::string(text);
  size_t end = kMostCharacters;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::span<const std::byte> StartOf(std::string_view bytes) {
  return std::as_bytes(std::span(bytes.substr(0, kProbeBytes)));
}

Json FirstValues(const Array& array) {
  const size_t count = std::min<size_t>(kMostValues, static_cast<size_t>(array.num_values()));
  Json values = Json::array();
  if (IsFloating(array.dtype())) {
    std::vector<double> numbers(count);
    CastValues(array.dtype(), array.data(), count, DType::kFloat64,
               reinterpret_cast<std::byte*>(numbers.data()));
    // JSON has no NaN and no infinity; as text they are not lost.
    for (const double number : numbers)
      values.push_back(std::isfinite(number) ? Json(number) : Json(fmt::format("{}", number)));
    return values;
  }
  std::vector<int64_t> numbers(count);
  CastValues(array.dtype(), array.data(), count, DType::kInt64,
             reinterpret_cast<std::byte*>(numbers.data()));
  for (const int64_t number : numbers)
    values.push_back(array.dtype() == DType::kBool ? Json(number != 0) : Json(number));
  return values;
}

std::string ValueText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : DumpJson(value);
}

std::string TextOf(const Array& array, const Field& field) {
  if (IsByteString(field)) {
    const std::string_view bytes = BytesOf(array);
    if (IsText(bytes)) return DumpJson(Shortened(bytes));
    if (ProbeFile(StartOf(bytes)) == FileKind::kUnknown) return ByteText(bytes.size());
    return fmt::format("{} of {}", DescribeStart(StartOf(bytes)), ByteText(bytes.size()));
  }
  const Json first = FirstValues(array);
  if (array.shape().empty()) return ValueText(first[0]);
  std::string text = array.ToString();
  for (const Json& value : first) text += " " + ValueText(value);
  if (array.num_values() > static_cast<int64_t>(first.size())) text += " ...";
  return text;
}

Json JsonOf(const Array& array, const Field& field) {
  if (IsByteString(field)) {
    const std::string_view bytes = BytesOf(array);
    if (IsText(bytes)) return Shortened(bytes);
    return {{"bytes", bytes.size()}, {"kind", DescribeStart(StartOf(bytes))}};
  }
  Json first = FirstValues(array);
  if (array.shape().empty()) return first[0];
  return {{"dtype", DTypeName(array.dtype())}, {"shape", array.shape()}, {"first", first}};
}

}  // namespace

std::string PreviewText(const Element& sample, const Spec& spec) {
  std::string text;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", spec.fields[i].name,
                        TextOf(sample.arrays[i], spec.fields[i]));
  }
  return text;
}

Json PreviewJson(const Element& sample, const Spec& spec) {
  Json json = Json::object();
  for (size_t i = 0; i < spec.fields.size(); ++i)
    json[spec.fields[i].name] = JsonOf(sample.arrays[i], spec.fields[i]);
  return json;
}

}  // namespace stoker
