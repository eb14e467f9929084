#include "stoker/data/transforms/example_features_internal.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "stoker/data/transforms/extents_internal.h"

namespace stoker {
namespace {

using Bytes = std::span<const std::byte>;

FeatureKind KindOf(const std::string& type) {
  if (type == "int64") return FeatureKind::kInt64;
  return type == "float32" ? FeatureKind::kFloat : FeatureKind::kBytes;
}

template <typename T>
Result<T> ParseDefault(const std::string& feature, const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return InvalidArgument("feature '{}': default '{}' is not {}; give one", feature, text,
                         std::is_integral_v<T> ? "an integer of 64 bits" : "a number");
}

// One value for each of `count`, or one for all.
template <typename T>
Result<std::vector<std::byte>> DefaultBytes(const std::string& feature,
                                            const std::vector<std::string>& texts, int64_t count) {
  if (texts.size() != 1 && std::ssize(texts) != count) {
    return InvalidArgument("feature '{}': default has {} values; give one, or {} by its shape",
                           feature, texts.size(), count);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(T));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    STOKER_ASSIGN_OR_RETURN(const T value,
                            ParseDefault<T>(feature, texts[texts.size() == 1 ? 0 : i]));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

Result<int64_t> RowValues(const std::string& name, const Shape& shape) {
  int64_t values = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == 0 && shape[i] == kUnknownDim) continue;
    if (shape[i] < 1) {
      return InvalidArgument("feature '{}': shape {}: extents are at least 1, the first may be -1",
                             name, ShapeToString(shape));
    }
    const std::optional<int64_t> product = MultiplySizes(values, shape[i]);
    if (!product || *product > (int64_t{1} << 40))
      return InvalidArgument("feature '{}': shape {} is too large", name, ShapeToString(shape));
    values = *product;
  }
  return values;
}

Shape WithFirst(int64_t extent, const Shape& shape) {
  Shape out = {extent};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

Shape WithFirstReplaced(int64_t extent, Shape shape) {
  shape.front() = extent;
  return shape;
}

}  // namespace

void ExampleFeature::Describe(OptionTable<ExampleFeature>& table) {
  table
      .Field("type", &ExampleFeature::type,
             "int64, float32, bytes (one byte string), bytes_list (any number of them)",
             OneOf{{"int64", "float32", "bytes", "bytes_list"}})
      .Field("shape", &ExampleFeature::shape,
             "of the values; a first extent of -1: as many as there are; empty: one value, or all "
             "of a byte string",
             Between(-1, kMostExtent))
      .Field("raw", &ExampleFeature::raw, "of bytes: the type of the values in them, little-endian",
             OneOf{{"uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
                    "float64", "bool"}})
      .Field("default", &ExampleFeature::default_value,
             "where the feature is missing: one value for all, or all of them; of bytes a text")
      .Field("field", &ExampleFeature::field, "what the field is called; empty: as the feature");
}

Status ExampleFeatures::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap)
    return InvalidArgument("{} is not a map of features, such as {{label: int64}}",
                           node.KindName());
  features_.clear();
  for (const ConfigNode::Entry& entry : node.entries) {
    ExampleFeature feature;
    STOKER_RETURN_IF_ERROR(ParseOptionsOf(entry.value, feature));
    feature.name = entry.key;
    features_.push_back(std::move(feature));
  }
  return OkStatus();
}

ConfigNode ExampleFeatures::Write() const {
  std::vector<ConfigNode::Entry> entries;
  for (const ExampleFeature& feature : features_)
    entries.push_back({feature.name, {}, FormatOptions(OptionsOf<ExampleFeature>(), &feature)});
  return ConfigNode::Map(std::move(entries));
}

Result<FeaturePlan> FeaturePlan::Make(const ExampleFeature& feature) {
  STOKER_RETURN_IF_ERROR(CheckOptionsOf(feature));
  FeaturePlan plan;
  plan.name_ = feature.name;
  plan.field_ = feature.field.empty() ? feature.name : feature.field;
  plan.kind_ = KindOf(feature.type);
  plan.strings_ = feature.type == "bytes_list";
  plan.shape_ = feature.shape;
  const bool bytes = plan.kind_ == FeatureKind::kBytes;
  if (plan.kind_ == FeatureKind::kFloat) plan.dtype_ = DType::kFloat32;
  if (bytes) {
    STOKER_ASSIGN_OR_RETURN(plan.dtype_, ParseDType(feature.raw));
    plan.one_string_ = !plan.strings_ && plan.shape_.empty();
    if (plan.shape_.empty()) plan.shape_ = {kUnknownDim};
  } else if (feature.raw != "uint8") {
    return InvalidArgument("feature '{}': raw goes with type bytes, not {}; leave it out",
                           plan.name_, feature.type);
  }
  if (plan.strings_ && (plan.shape_ != Shape{kUnknownDim} || feature.raw != "uint8")) {
    return InvalidArgument(
        "feature '{}': byte strings of a bytes_list have lengths of their own; leave out shape and "
        "raw",
        plan.name_);
  }
  STOKER_ASSIGN_OR_RETURN(plan.row_, RowValues(plan.name_, plan.shape_));
  STOKER_RETURN_IF_ERROR(plan.SetDefault(feature.default_value));
  return plan;
}

Status FeaturePlan::SetDefault(const std::vector<std::string>& values) {
  if (values.empty()) return OkStatus();
  has_default_ = true;
  const int64_t count = variable() ? std::ssize(values) : row_;
  if (kind_ == FeatureKind::kInt64) {
    STOKER_ASSIGN_OR_RETURN(default_, DefaultBytes<int64_t>(name_, values, count));
  } else if (kind_ == FeatureKind::kFloat) {
    STOKER_ASSIGN_OR_RETURN(default_, DefaultBytes<float>(name_, values, count));
  } else {
    if (strings_ || values.size() != 1)
      return InvalidArgument("feature '{}': the default of bytes is one text; of bytes_list: none",
                             name_);
    const Bytes text = std::as_bytes(std::span(values.front()));
    default_.assign(text.begin(), text.end());
  }
  const int64_t row_bytes = row_ * static_cast<int64_t>(DTypeSize(dtype_));
  const int64_t left =
      variable() ? std::ssize(default_) % row_bytes : std::ssize(default_) - row_bytes;
  if (left == 0) return OkStatus();
  return InvalidArgument("feature '{}': default has {} bytes, {} of {} take {}", name_,
                         default_.size(), DTypeName(dtype_), ShapeToString(shape_), row_bytes);
}

std::vector<Field> FeaturePlan::Fields(bool sequence) const {
  const Field lengths{field_ + "_lengths", DType::kInt64, {kUnknownDim}};
  if (strings_) return {{field_, dtype_, {kUnknownDim}}, lengths};
  if (!sequence) return {{field_, dtype_, shape_}};
  if (!variable()) return {{field_, dtype_, WithFirst(kUnknownDim, shape_)}};
  return {{field_, dtype_, shape_}, lengths};
}

Status FeaturePlan::CheckKind(const FeatureValues& values) const {
  if (values.kind == kind_) return OkStatus();
  return DataLoss("feature '{}' has {} values, the recipe says {}; set its type", name_,
                  FeatureKindName(values.kind), FeatureKindName(kind_));
}

Status FeaturePlan::Missing() const {
  return DataLoss("feature '{}' is missing; give it a default, or take it out", name_);
}

Status FeaturePlan::WrongCount(int64_t found) const {
  return DataLoss(
      "feature '{}' has {} values of {}, shape {} wants {}{}; set its shape (a first extent of -1: "
      "as many as there are)",
      name_, found, DTypeName(dtype_), ShapeToString(shape_), variable() ? "a multiple of " : "",
      row_);
}

Result<int64_t> FeaturePlan::Count(Bytes record, const FeatureValues& values) const {
  if (kind_ != FeatureKind::kBytes) return CountValues(record, values);
  Bytes text;
  STOKER_ASSIGN_OR_RETURN(const int64_t strings, FindByteStrings(record, values, {&text, 1}));
  if (strings > 1) {
    return DataLoss("feature '{}' has {} byte strings, type bytes takes one; use bytes_list", name_,
                    strings);
  }
  const size_t value_bytes = DTypeSize(dtype_);
  if (text.size() % value_bytes != 0) {
    return DataLoss("feature '{}' has {} bytes, values of {} take a multiple of {}; check raw",
                    name_, text.size(), DTypeName(dtype_), value_bytes);
  }
  return static_cast<int64_t>(text.size() / value_bytes);
}

Status FeaturePlan::Copy(Bytes record, const FeatureValues& values, int64_t count,
                         std::byte* out) const {
  const auto size = static_cast<size_t>(count);
  int64_t found = 0;
  if (kind_ == FeatureKind::kInt64) {
    auto* const to = reinterpret_cast<int64_t*>(out);
    STOKER_ASSIGN_OR_RETURN(found, CopyInt64s(record, values, {to, size}));
  } else if (kind_ == FeatureKind::kFloat) {
    auto* const to = reinterpret_cast<float*>(out);
    STOKER_ASSIGN_OR_RETURN(found, CopyFloats(record, values, {to, size}));
  } else {
    Bytes text;
    STOKER_ASSIGN_OR_RETURN(const int64_t strings, FindByteStrings(record, values, {&text, 1}));
    const size_t bytes = size * DTypeSize(dtype_);
    if (strings > 1 || text.size() != bytes) {
      STOKER_ASSIGN_OR_RETURN(const int64_t there, Count(record, values));
      return WrongCount(there);
    }
    if (bytes > 0) std::memcpy(out, text.data(), bytes);
    return OkStatus();
  }
  return found == count ? OkStatus() : WrongCount(found);
}

Status FeaturePlan::WriteFixed(Bytes record, const FeatureValues& values, std::byte* out) const {
  if (values.kind == FeatureKind::kMissing) {
    if (!has_default_) return Missing();
    std::memcpy(out, default_.data(), default_.size());
    return OkStatus();
  }
  STOKER_RETURN_IF_ERROR(CheckKind(values));
  return Copy(record, values, row_, out);
}

Status FeaturePlan::MakeArrays(Bytes record, const FeatureValues& values, Scratch& scratch,
                               std::vector<Array>& out) const {
  if (!variable()) {
    out.push_back(scratch.NewArray(dtype_, shape_));
    return WriteFixed(record, values, out.back().data());
  }
  const bool missing = values.kind == FeatureKind::kMissing;
  if (missing && one_string_ && !has_default_) return Missing();
  if (!missing) STOKER_RETURN_IF_ERROR(CheckKind(values));
  if (strings_) return MakeStrings(record, values, scratch, out);
  int64_t count = std::ssize(default_) / static_cast<int64_t>(DTypeSize(dtype_));
  if (!missing) {
    STOKER_ASSIGN_OR_RETURN(count, Count(record, values));
  }
  if (count % row_ != 0) return WrongCount(count);
  out.push_back(scratch.NewArray(dtype_, WithFirstReplaced(count / row_, shape_)));
  if (!missing) return Copy(record, values, count, out.back().data());
  if (!default_.empty()) std::memcpy(out.back().data(), default_.data(), default_.size());
  return OkStatus();
}

Status FeaturePlan::MakeStrings(Bytes record, const FeatureValues& values, Scratch& scratch,
                                std::vector<Array>& out) const {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, CountValues(record, values));
  std::vector<Bytes> strings(static_cast<size_t>(count));
  STOKER_RETURN_IF_ERROR(FindByteStrings(record, values, strings).status());
  Array lengths = scratch.NewArray(DType::kInt64, {count});
  int64_t total = 0;
  for (size_t i = 0; i < strings.size(); ++i)
    total += lengths.values<int64_t>()[i] = std::ssize(strings[i]);
  Array text = scratch.NewArray(DType::kUInt8, {total});
  std::byte* to = text.data();
  for (const Bytes one : strings) to = std::ranges::copy(one, to).out;
  out.push_back(std::move(text));
  out.push_back(std::move(lengths));
  return OkStatus();
}

Status FeaturePlan::MakeSequence(Bytes record, const FeatureSteps& steps, Scratch& scratch,
                                 std::vector<Array>& out) const {
  std::vector<FeatureValues> values;
  STOKER_RETURN_IF_ERROR(SplitSteps(record, steps, values));
  const int64_t value_bytes = static_cast<int64_t>(DTypeSize(dtype_));
  if (!variable()) {
    out.push_back(scratch.NewArray(dtype_, WithFirst(std::ssize(values), shape_)));
    std::byte* to = out.back().data();
    for (const FeatureValues& step : values) {
      STOKER_RETURN_IF_ERROR(WriteFixed(record, step, to));
      to += row_ * value_bytes;
    }
    return OkStatus();
  }
  Array lengths = scratch.NewArray(DType::kInt64, {std::ssize(values)});
  const std::span<int64_t> counts = lengths.values<int64_t>();
  int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind != FeatureKind::kMissing) STOKER_RETURN_IF_ERROR(CheckKind(values[i]));
    STOKER_ASSIGN_OR_RETURN(const int64_t count, Count(record, values[i]));
    if (count % row_ != 0) return WrongCount(count);
    counts[i] = count / row_;
    total += counts[i];
  }
  Array flat = scratch.NewArray(dtype_, WithFirstReplaced(total, shape_));
  std::byte* to = flat.data();
  for (size_t i = 0; i < values.size(); ++i) {
    STOKER_RETURN_IF_ERROR(Copy(record, values[i], counts[i] * row_, to));
    to += counts[i] * row_ * value_bytes;
  }
  out.push_back(std::move(flat));
  out.push_back(std::move(lengths));
  return OkStatus();
}

}  // namespace stoker
