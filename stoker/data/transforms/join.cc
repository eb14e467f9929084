#include "stoker/data/transforms/join.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

struct JoinPlan {
  std::vector<size_t> fields;  // in the order in which they are joined
  DType dtype = DType::kFloat32;
  std::string separator;
  bool keep = false;
};

class JoinTransform final : public Transform {
 public:
  explicit JoinTransform(JoinPlan plan) : plan_(std::move(plan)) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    Put(Joined(element.arrays, /*rows=*/1, /*in_rows=*/false, scratch), element.arrays);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    Put(Joined(rows.columns, rows.size(), /*in_rows=*/true, scratch), rows.columns);
    return OkStatus();
  }

  bool random() const override { return false; }
  bool works_on_columns() const override { return true; }

 private:
  // The values of a field in a row follow those of the field before; all rows have equally many.
  Array Joined(const std::vector<Array>& arrays, int64_t rows, bool in_rows,
               Scratch& scratch) const {
    int64_t width = static_cast<int64_t>(plan_.separator.size() * (plan_.fields.size() - 1));
    for (const size_t field : plan_.fields) width += arrays[field].num_values() / rows;
    Array out = scratch.NewArray(plan_.dtype, in_rows ? Shape{rows, width} : Shape{width});
    std::byte* to = out.data();
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < plan_.fields.size(); ++i) {
        const size_t between = i == 0 ? 0 : plan_.separator.size();
        std::memcpy(to, plan_.separator.data(), between);
        to = CopyRow(arrays[plan_.fields[i]], row, rows, to + between);
      }
    }
    return out;
  }

  std::byte* CopyRow(const Array& array, int64_t row, int64_t rows, std::byte* to) const {
    const auto n = static_cast<size_t>(array.num_values() / rows);
    if (n == 0) return to;
    const std::byte* from = array.data() + static_cast<size_t>(row) * n * DTypeSize(array.dtype());
    const size_t bytes = n * DTypeSize(plan_.dtype);
    if (array.dtype() == plan_.dtype) {
      std::memcpy(to, from, bytes);
    } else {
      CastValues(array.dtype(), from, n, plan_.dtype, to);
    }
    return to + bytes;
  }

  void Put(Array joined, std::vector<Array>& arrays) const {
    if (plan_.keep) {
      arrays.push_back(std::move(joined));
      return;
    }
    const size_t first = *std::ranges::min_element(plan_.fields);
    arrays[first] = std::move(joined);
    std::vector<size_t> gone = plan_.fields;
    std::ranges::sort(gone, std::greater<>());
    for (const size_t field : gone) {
      if (field != first) arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(field));
    }
  }

  const JoinPlan plan_;
};

bool IsText(const Field& field) {
  return field.dtype == DType::kUInt8 && field.shape.size() == 1 && field.shape[0] < 0;
}

// The smallest dtype that holds the values of all fields.
DType CommonDType(const std::vector<Field>& fields) {
  const DType first = fields.front().dtype;
  if (std::ranges::all_of(fields, [&](const Field& field) { return field.dtype == first; }))
    return first;
  const auto any = [&](const auto& is) { return std::ranges::any_of(fields, is, &Field::dtype); };
  if (any([](DType dtype) { return dtype == DType::kFloat64; })) return DType::kFloat64;
  return any(IsFloating) ? DType::kFloat32 : DType::kInt64;
}

Status CheckFields(const std::vector<Field>& fields, const Join& options) {
  for (const Field& field : fields) {
    if (field.shape.size() > 1) {
      return InvalidArgument(
          "join: field '{}' has shape {}; numbers and lists are joined: `reshape: {{shape: [-1], "
          "field: {}}}` makes a list of it",
          field.name, ShapeToString(field.shape), field.name);
    }
    if (!IsText(field) && !options.separator.empty()) {
      return InvalidArgument("join: separator stands between texts, but field '{}' is {}",
                             field.name, field.ToString());
    }
  }
  const auto text = std::ranges::find_if(fields, IsText);
  const auto number = std::ranges::find_if_not(fields, IsText);
  if (text != fields.end() && options.dtype != "auto" && options.dtype != "uint8")
    return InvalidArgument("join: dtype is {}, but field '{}' is text; leave dtype out",
                           options.dtype, text->name);
  if (text == fields.end() || number == fields.end()) return OkStatus();
  return InvalidArgument(
      "join: field '{}' is text and field '{}' is {}; make numbers of the text by `lookup` or "
      "`one_hot`, or leave it out",
      text->name, number->name, DTypeName(number->dtype));
}

// Returns the extent of the joined list: -1 if it differs between elements.
int64_t JoinedExtent(const std::vector<Field>& fields, const std::string& separator) {
  auto extent = static_cast<int64_t>(separator.size() * (fields.size() - 1));
  for (const Field& field : fields) {
    if (!IsFullyKnown(field.shape)) return -1;
    extent += NumValues(field.shape);
  }
  return extent;
}

// Returns the Spec after joining, with the new field in its place.
Result<Spec> SpecAfter(const Spec& input, const JoinPlan& plan, Field joined) {
  Spec output;
  const size_t first = *std::ranges::min_element(plan.fields);
  for (size_t i = 0; i < input.fields.size(); ++i) {
    const bool is_joined = std::ranges::find(plan.fields, i) != plan.fields.end();
    if (plan.keep || !is_joined) {
      output.fields.push_back(input.fields[i]);
    } else if (i == first) {
      output.fields.push_back({});  // its place
    }
  }
  if (plan.keep) {
    STOKER_RETURN_IF_ERROR(AddField(Join::kName, std::move(joined), output));
    return output;
  }
  Spec others = output;
  std::erase_if(others.fields, [](const Field& field) { return field.name.empty(); });
  STOKER_RETURN_IF_ERROR(AddField(Join::kName, joined, others));
  std::ranges::find(output.fields, std::string(), &Field::name)->name = joined.name;
  *std::ranges::find(output.fields, joined.name, &Field::name) = joined;
  return output;
}

std::vector<std::string> DTypeChoices() {
  std::vector<std::string> names = {"auto"};
  for (int dtype = 0; dtype <= static_cast<int>(DType::kFloat64); ++dtype)
    names.emplace_back(DTypeName(static_cast<DType>(dtype)));
  return names;
}

}  // namespace

void Join::Describe(OptionTable<Join>& table) {
  table.Field("fields", &Join::fields, "which, in the order in which they follow each other")
      .Required()
      .Field("to", &Join::to, "name of the field that they become")
      .Field("dtype", &Join::dtype, "type of its values; auto: one that holds those of all",
             OneOf{DTypeChoices()})
      .Field("separator", &Join::separator, "between texts")
      .Field("keep", &Join::keep, "whether the fields stay as well");
}

Result<Dataset> Join::Build(Dataset input) const {
  if (fields.empty()) return InvalidArgument("join: fields is empty; name those to join");
  JoinPlan plan{.separator = separator, .keep = keep};
  std::vector<Field> joined;
  for (const std::string& name : fields) {
    STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "fields", name));
    if (std::ranges::find(plan.fields, index) != plan.fields.end())
      return InvalidArgument("join: fields names '{}' twice; name each once", name);
    plan.fields.push_back(index);
    joined.push_back(input.spec().fields[index]);
  }
  STOKER_RETURN_IF_ERROR(CheckFields(joined, *this));
  plan.dtype = CommonDType(joined);
  if (dtype != "auto") {
    STOKER_ASSIGN_OR_RETURN(plan.dtype, ParseDType(dtype));
  }
  STOKER_ASSIGN_OR_RETURN(
      Spec output,
      SpecAfter(input.spec(), plan, {to, plan.dtype, {JoinedExtent(joined, separator)}}));
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{} to {}", fmt::join(fields, ", "), to), std::move(output),
                    std::make_shared<JoinTransform>(std::move(plan)));
}

}  // namespace stoker
