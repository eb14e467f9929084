#include "stoker/data/ops/padding_internal.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

using Extents = std::span<const int64_t>;

// "512", "3x?x224": an extent for each dimension, ? where the longest element counts.
Result<Shape> ParseShape(std::string_view who, std::string_view text) {
  Shape shape;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    const bool is_number = error == std::errc() && stop == part.data() + part.size() && extent >= 1;
    if (part != "?" && !is_number) {
      return InvalidArgument(
          "{}: shape '{}' is none; give an extent for each dimension with x between them, ? for "
          "the longest: 512, or 3x?x224",
          who, text);
    }
    shape.push_back(part == "?" ? kUnknownDim : extent);
    begin = end + 1;
  }
  return shape;
}

// Copies values of `size` bytes that have extents `from` into a place of extents `to`, none of
// which is smaller, and fills what is left.
void CopyPadded(const std::byte* in, Extents from, const FillValue& fill, size_t size, Extents to,
                std::byte* out) {
  const auto bytes = [size](Extents extents) {
    return static_cast<size_t>(NumValues(extents)) * size;
  };
  if (std::ranges::equal(from, to)) {
    if (bytes(from) > 0) std::memcpy(out, in, bytes(from));
    return;
  }
  const Extents from_inner = from.subspan(1), to_inner = to.subspan(1);
  const size_t step_in = bytes(from_inner), step_out = bytes(to_inner);
  const auto rows = static_cast<size_t>(from[0]);
  if (std::ranges::equal(from_inner, to_inner)) {
    if (rows * step_in > 0) std::memcpy(out, in, rows * step_in);
  } else {
    for (size_t i = 0; i < rows; ++i)
      CopyPadded(in + i * step_in, from_inner, fill, size, to_inner, out + i * step_out);
  }
  const auto left = static_cast<size_t>(to[0] - from[0]) * step_out;
  Fill(fill, size, left / size, out + rows * step_out);
}

Shape Select(const Shape& shape, const std::vector<size_t>& dims) {
  Shape selected;
  for (const size_t d : dims) selected.push_back(shape[d]);
  return selected;
}

Status NotOneForEach(std::string_view who, std::string_view option, size_t given, size_t fields) {
  return InvalidArgument(
      "{}: {} has {} entries, but {} fields are padded; give one, or one for each", who, option,
      given, fields);
}

Status CheckNamedOnce(std::string_view who, const std::vector<std::string>& names) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) continue;
    return InvalidArgument("{}: fields names '{}' twice; name each field once", who, *name);
  }
  return OkStatus();
}

// That something is padded where an option says how.
Status CheckSomethingIsPadded(const PaddingOptions& options,
                              const std::vector<std::string>& names) {
  if (!names.empty()) return OkStatus();
  for (const auto& [option, given] : {std::pair{"shape", !options.shape.empty()},
                                      {"lengths", options.lengths},
                                      {"mask", options.mask}}) {
    if (!given) continue;
    return InvalidArgument(
        "{}: {} is set, but all elements have the same shapes, so nothing is padded; name in "
        "`fields` what is to be padded all the same, or leave {} out",
        options.who, option, option);
  }
  return OkStatus();
}

// The names of the fields to pad: those asked for, or all whose shapes differ between elements.
Result<std::vector<std::string>> NamesToPad(const PaddingOptions& options, const Spec& input) {
  std::vector<std::string> names = options.fields;
  STOKER_RETURN_IF_ERROR(CheckNamedOnce(options.who, names));
  for (const Field& field : input.fields) {
    if (IsFullyKnown(field.shape)) continue;
    if (options.fields.empty()) {
      names.push_back(field.name);
    } else if (std::ranges::find(names, field.name) == names.end()) {
      return InvalidArgument(
          "{}: field '{}' has shape {}, which differs between elements, but `fields` does not name "
          "it; add it, or leave `fields` out to pad all such fields",
          options.who, field.name, ShapeToString(field.shape));
    }
  }
  for (const auto& [option, given] :
       {std::pair{"padding", options.padding.size()}, std::pair{"shape", options.shape.size()}}) {
    if (given > 1 && given != names.size())
      return NotOneForEach(options.who, option, given, names.size());
  }
  STOKER_RETURN_IF_ERROR(CheckSomethingIsPadded(options, names));
  return names;
}

std::string TextOf(const PaddingOptions& options, const std::vector<std::string>& names) {
  std::string text = fmt::format("pads {}", fmt::join(names, " "));
  if (!options.padding.empty()) text += fmt::format(" with {}", fmt::join(options.padding, " "));
  if (!options.shape.empty()) text += fmt::format(" to {}", fmt::join(options.shape, " "));
  if (options.lengths) text += ", lengths";
  if (options.mask) text += ", mask";
  return text;
}

// Entry i of a list with one for all, or one for each.
template <typename T>
const T& EntryOf(const std::vector<T>& list, size_t i) {
  return list[list.size() == 1 ? 0 : i];
}

// That the extents known of a batch are of a size that there may be.
Status CheckSize(std::string_view who, const Field& batch) {
  std::optional<int64_t> bytes = static_cast<int64_t>(DTypeSize(batch.dtype));
  for (const int64_t extent : batch.shape) {
    if (extent != kUnknownDim) bytes = MultiplySizes(bytes, extent);
  }
  if (bytes) return OkStatus();
  return InvalidArgument(
      "{}: field '{}' becomes {} {}, which is more bytes than can be counted; lower shape or size",
      who, batch.name, DTypeName(batch.dtype), ShapeToString(batch.shape));
}

// The shape that `field` is padded to, checked against what is known of the elements'.
Result<Shape> PlanTarget(const PaddingOptions& options, size_t i, const Field& field) {
  if (options.shape.empty()) return field.shape;
  const std::string& text = EntryOf(options.shape, i);
  STOKER_ASSIGN_OR_RETURN(Shape target, ParseShape(options.who, text));
  bool fits = target.size() == field.shape.size();
  for (size_t d = 0; fits && d < target.size(); ++d) {
    if (target[d] == kUnknownDim) target[d] = field.shape[d];
    fits = field.shape[d] <= target[d] || target[d] == kUnknownDim;
  }
  if (fits) return target;
  return InvalidArgument(
      "{}: shape {} does not fit field '{}', whose elements have shape {}; it needs as many "
      "dimensions, and none that is smaller",
      options.who, text, field.name, ShapeToString(field.shape));
}

}  // namespace

Result<PaddingPlan> PaddingPlan::Make(const PaddingOptions& options, const Spec& input,
                                      int64_t extent) {
  PaddingPlan plan;
  plan.who_ = std::string(options.who);
  plan.lengths_ = options.lengths;
  plan.mask_ = options.mask;
  STOKER_RETURN_IF_ERROR(plan.PlanColumns(options, input));
  STOKER_RETURN_IF_ERROR(plan.PlanOutput(options, input, extent));
  return plan;
}

Status PaddingPlan::PlanColumns(const PaddingOptions& options, const Spec& input) {
  for (const Field& field : input.fields)
    columns_.push_back({.name = field.name, .target = field.shape});
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesToPad(options, input));
  text_ = TextOf(options, names);
  for (size_t i = 0; i < names.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(const size_t index, input.IndexOf(who_, names[i]));
    const Field& field = input.fields[index];
    Column& column = columns_[index];
    column.padded = true;
    column.value = options.padding.empty() ? 0 : EntryOf(options.padding, i);
    STOKER_ASSIGN_OR_RETURN(column.padding, MakeFillValue(who_, "padding", column.value, field));
    STOKER_ASSIGN_OR_RETURN(column.target, PlanTarget(options, i, field));
    for (size_t d = 0; d < field.shape.size(); ++d) {
      if (field.shape[d] == kUnknownDim || field.shape[d] != column.target[d])
        column.varying.push_back(d);
    }
    if (!column.varying.empty() || !(lengths_ || mask_)) continue;
    // Named, and all elements are as large as the batch: what is added does not depend on that.
    if (field.shape.empty()) {
      return InvalidArgument(
          "{}: field '{}' is a scalar, which has neither length nor mask; take it out of `fields`",
          who_, field.name);
    }
    column.varying.push_back(0);
  }
  return OkStatus();
}

Status PaddingPlan::PlanOutput(const PaddingOptions& options, const Spec& input, int64_t extent) {
  for (size_t f = 0; f < columns_.size(); ++f) {
    const Field& field = input.fields[f];
    output_.fields.push_back({field.name, field.dtype, ShapeOfRows(extent, columns_[f].target)});
    STOKER_RETURN_IF_ERROR(CheckSize(who_, output_.fields.back()));
  }
  for (const Column& column : columns_) {
    if (column.varying.empty()) continue;
    if (options.lengths) {
      Shape shape{extent};
      if (column.varying.size() > 1) shape.push_back(std::ssize(column.varying));
      STOKER_RETURN_IF_ERROR(
          AddField(who_, {column.name + "_length", DType::kInt64, shape}, output_));
    }
    if (options.mask) {
      const Shape shape = ShapeOfRows(extent, Select(column.target, column.varying));
      STOKER_RETURN_IF_ERROR(AddField(who_, {column.name + "_mask", DType::kBool, shape}, output_));
    }
  }
  return OkStatus();
}

std::optional<double> PaddingPlan::PaddingOf(std::string_view field) const {
  const auto column = std::ranges::find(columns_, field, &Column::name);
  if (column == columns_.end() || !column->padded) return std::nullopt;
  return column->value;
}

Result<Shape> PaddingPlan::ShapeOf(const Column& column, size_t field,
                                   std::span<const Element> elements,
                                   std::optional<int64_t> length) const {
  Shape shape = column.padded ? column.target : elements.front().arrays[field].shape();
  if (length && !column.varying.empty() && shape[column.varying[0]] == kUnknownDim)
    shape[column.varying[0]] = *length;
  const Shape fixed = shape;
  for (const Element& element : elements) {
    const Shape& own = element.arrays[field].shape();
    bool fits = own.size() == shape.size();
    for (size_t d = 0; fits && d < own.size(); ++d) {
      const bool varies = std::ranges::find(column.varying, d) != column.varying.end();
      if (fixed[d] == kUnknownDim) shape[d] = std::max(shape[d], own[d]);
      fits = varies ? own[d] <= shape[d] : own[d] == shape[d];
    }
    if (fits) continue;
    return InvalidArgument(
        "{}: element {}: field '{}' has shape {}, but {} is what there is room for; shorten it in "
        "front, or raise the shape that is padded to",
        who_, element.key.index, column.name, ShapeToString(own), ShapeToString(fixed));
  }
  return shape;
}

Result<Element> PaddingPlan::Pad(std::span<const Element> elements, std::optional<int64_t> length,
                                 const SampleKey& key, Scratch& scratch) const {
  Element batch{.key = key, .arrays = {}};
  std::vector<Array> added;
  for (size_t f = 0; f < columns_.size(); ++f) {
    const Column& column = columns_[f];
    const DType dtype = output_.fields[f].dtype;
    STOKER_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(column, f, elements, length));
    Array out = scratch.NewRows(std::ssize(elements), dtype, shape);
    const size_t bytes = out.num_bytes() / elements.size();
    for (size_t i = 0; i < elements.size(); ++i) {
      const Array& array = elements[i].arrays[f];
      CopyPadded(array.data(), array.shape(), column.padding, DTypeSize(dtype), shape,
                 out.data() + i * bytes);
    }
    batch.arrays.push_back(std::move(out));
    if (column.varying.empty()) continue;
    if (lengths_) added.push_back(Lengths(column, f, elements, scratch));
    if (mask_) added.push_back(Mask(column, f, elements, shape, scratch));
  }
  for (Array& array : added) batch.arrays.push_back(std::move(array));
  return batch;
}

Array PaddingPlan::Lengths(const Column& column, size_t field, std::span<const Element> elements,
                           Scratch& scratch) {
  Shape shape{std::ssize(elements)};
  if (column.varying.size() > 1) shape.push_back(std::ssize(column.varying));
  Array lengths = scratch.NewArray(DType::kInt64, std::move(shape));
  auto out = lengths.values<int64_t>().begin();
  for (const Element& element : elements)
    out = std::ranges::copy(Select(element.arrays[field].shape(), column.varying), out).out;
  return lengths;
}

Array PaddingPlan::Mask(const Column& column, size_t field, std::span<const Element> elements,
                        const Shape& shape, Scratch& scratch) {
  const Shape of_one = Select(shape, column.varying);
  const auto values = static_cast<size_t>(NumValues(of_one));
  Array mask = scratch.NewRows(std::ssize(elements), DType::kBool, of_one);
  const std::vector<std::byte> inside(values, std::byte{1});
  for (size_t i = 0; i < elements.size(); ++i) {
    const Shape own = Select(elements[i].arrays[field].shape(), column.varying);
    CopyPadded(inside.data(), own, FillValue{}, 1, of_one, mask.data() + i * values);
  }
  return mask;
}

}  // namespace stoker
