#include "stoker/data/ops/ragged_internal.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

constexpr std::string_view kWho = "batch";

std::string OffsetsNameOf(std::string_view field) { return fmt::format("{}_offsets", field); }

}  // namespace

Result<std::optional<RaggedPlan>> RaggedPlan::Make(const Spec& input, int64_t extent) {
  RaggedPlan plan;
  for (const Field& field : input.fields) {
    const bool ragged = !field.shape.empty() && field.shape.front() == kUnknownDim;
    if (!IsFullyKnown(std::span(field.shape).subspan(ragged ? 1 : 0))) {
      return InvalidArgument(
          "batch: field '{}' has shape {}, and only the first extent of a ragged field may differ "
          "between elements; use padded_batch, or make the others equal before",
          field.name, ShapeToString(field.shape));
    }
    plan.columns_.push_back({field.name, field.dtype, field.shape, ragged});
    plan.output_.fields.push_back(
        {field.name, field.dtype, ragged ? field.shape : ShapeOfRows(extent, field.shape)});
  }
  if (std::ranges::none_of(plan.columns_, &Column::ragged)) return std::nullopt;
  for (const Column& column : plan.columns_) {
    if (!column.ragged) continue;
    const int64_t offsets = extent == kUnknownDim ? kUnknownDim : extent + 1;
    STOKER_RETURN_IF_ERROR(
        AddField(kWho, {OffsetsNameOf(column.name), DType::kInt64, {offsets}}, plan.output_));
  }
  return std::optional(std::move(plan));
}

std::string RaggedPlan::FieldsText() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) {
    if (column.ragged) names.push_back(column.name);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

std::optional<std::string> RaggedPlan::OffsetsOf(std::string_view field) const {
  const auto column = std::ranges::find(columns_, field, &Column::name);
  if (column == columns_.end() || !column->ragged) return std::nullopt;
  return OffsetsNameOf(field);
}

Status RaggedPlan::Check(const Column& column, const Element& element, size_t field) {
  const Shape& own = element.arrays[field].shape();
  bool fits = own.size() == column.of_element.size();
  for (size_t d = column.ragged ? 1 : 0; fits && d < own.size(); ++d)
    fits = own[d] == column.of_element[d];
  if (fits) return OkStatus();
  return InvalidArgument("{}: element {}: field '{}' has shape {}, and {} was promised", kWho,
                         element.key.index, column.name, ShapeToString(own),
                         ShapeToString(column.of_element));
}

Result<Element> RaggedPlan::Join(std::span<const Element> elements, const SampleKey& key,
                                 Scratch& scratch) const {
  Element batch{.key = key, .arrays = {}};
  std::vector<Array> offsets;
  for (size_t f = 0; f < columns_.size(); ++f) {
    const Column& column = columns_[f];
    int64_t values = 0;
    for (const Element& element : elements) {
      STOKER_RETURN_IF_ERROR(Check(column, element, f));
      if (column.ragged) values += element.arrays[f].shape().front();
    }
    Shape shape = column.of_element;
    if (column.ragged) shape.front() = values;
    Array out = column.ragged ? scratch.NewArray(column.dtype, std::move(shape))
                              : scratch.NewRows(std::ssize(elements), column.dtype, shape);
    std::byte* to = out.data();
    for (const Element& element : elements) {
      const Array& from = element.arrays[f];
      if (from.num_bytes() > 0) std::memcpy(to, from.data(), from.num_bytes());
      to += from.num_bytes();
    }
    batch.arrays.push_back(std::move(out));
    if (!column.ragged) continue;
    Array begins = scratch.NewArray(DType::kInt64, {std::ssize(elements) + 1});
    const std::span<int64_t> places = begins.values<int64_t>();
    places[0] = 0;
    for (size_t i = 0; i < elements.size(); ++i)
      places[i + 1] = places[i] + elements[i].arrays[f].shape().front();
    offsets.push_back(std::move(begins));
  }
  for (Array& array : offsets) batch.arrays.push_back(std::move(array));
  return batch;
}

}  // namespace stoker
