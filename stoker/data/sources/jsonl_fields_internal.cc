#include "stoker/data/sources/jsonl_fields_internal.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace stoker {
namespace {

constexpr double kMostExtent = 1 << 30;

// What is known of a member from the objects that have it.
struct Seen {
  std::string path;
  int64_t objects = 0;  // in which it is, and not null
  bool whole = true, numbers = true, bools = true, texts = true, lists = true;
  std::optional<Shape> shape;  // of lists, as far as all agree
};

// The shape of a list of numbers, as deep as it goes; nothing where it has other values or is
// ragged within.
std::optional<Shape> ShapeOfList(const Json& list, bool& whole) {
  std::optional<Shape> inner;
  for (const Json& value : list) {
    std::optional<Shape> here = Shape{};
    if (value.is_array()) here = ShapeOfList(value, whole);
    if (!value.is_array() && !value.is_number()) return std::nullopt;
    whole = whole && (value.is_array() || value.is_number_integer());
    if (!here || (inner && *inner != *here)) return std::nullopt;
    inner = here;
  }
  Shape shape = inner.value_or(Shape{});
  shape.insert(shape.begin(), std::ssize(list));
  return shape;
}

void Look(const Json& value, Seen& seen) {
  ++seen.objects;
  seen.bools = seen.bools && value.is_boolean();
  seen.texts = seen.texts && value.is_string();
  seen.numbers = seen.numbers && value.is_number();
  if (!value.is_array()) {
    seen.whole = seen.whole && value.is_number_integer();
    seen.lists = false;
    return;
  }
  const std::optional<Shape> shape = ShapeOfList(value, seen.whole);
  seen.lists = seen.lists && shape.has_value();
  if (!seen.lists) return;
  if (!seen.shape) seen.shape = shape;
  Shape& known = *seen.shape;
  // Lists of nothing do not tell what would be in them.
  if (shape->front() == 0 && shape->size() < known.size()) {
    known.front() = kUnknownDim;
  } else if (known.size() < shape->size() && known.front() <= 0) {
    known = *shape;
    known.front() = kUnknownDim;
  } else if (known.size() != shape->size() ||
             !std::equal(known.begin() + 1, known.end(), shape->begin() + 1)) {
    seen.lists = false;
  } else if (known.front() != shape->front()) {
    known.front() = kUnknownDim;
  }
}

void LookInto(const Json& object, const std::string& prefix, std::vector<Seen>& all) {
  for (const auto& [name, value] : object.items()) {
    // Such a name cannot be part of a path.
    if (name.empty() || name.find('.') != name.npos) continue;
    const std::string path = prefix + name;
    if (value.is_object() && !value.empty()) {
      LookInto(value, path + ".", all);
      continue;
    }
    auto seen = std::ranges::find(all, path, &Seen::path);
    if (seen == all.end()) seen = all.insert(seen, Seen{.path = path});
    if (!value.is_null()) Look(value, *seen);
  }
}

JsonlField FieldFor(const Seen& seen, int64_t objects) {
  JsonlField field{.name = seen.path};
  const bool gaps = seen.objects < objects;
  if (seen.objects == 0) {
    field.type = "json";
  } else if (seen.bools && !gaps) {
    field.type = "bool";
  } else if (seen.texts) {
    field.type = "text";
    if (gaps) field.default_value = {""};
  } else if (seen.numbers) {
    field.type = seen.whole && !gaps ? "int64" : "float32";
    if (gaps) field.default_value = {"nan"};
  } else if (seen.lists) {
    field.type = seen.whole ? "int64" : "float32";
    field.shape = *seen.shape;
    if (gaps || field.shape.front() == 0) field.shape.front() = kUnknownDim;
  } else {
    field.type = "json";
  }
  if (field.type == "json" && gaps) field.default_value = {"null"};
  return field;
}

Result<JsonMember> MemberOf(const JsonlField& field) {
  JsonMember member{.path = field.path.empty() ? field.name : field.path,
                    .shape = field.shape,
                    .has_default = !field.default_value.empty(),
                    .default_text = field.default_value.empty() ? "" : field.default_value.front()};
  if (field.default_value.size() > 1) {
    return InvalidArgument("jsonl: field '{}': default has {} values, it is one for all",
                           field.name, field.default_value.size());
  }
  if (field.type == "text" || field.type == "json") {
    member.kind = field.type == "text" ? JsonMember::Kind::kText : JsonMember::Kind::kJson;
    member.dtype = DType::kUInt8;
    if (!field.shape.empty())
      return InvalidArgument("jsonl: field '{}': a {} has no shape of its own", field.name,
                             field.type);
    return member;
  }
  for (size_t d = 0; d < field.shape.size(); ++d) {
    if (field.shape[d] > 0 || (d == 0 && field.shape[d] == kUnknownDim)) continue;
    return InvalidArgument(
        "jsonl: field '{}': extent {} of the shape is {}; extents are 1 or more, the first may be "
        "-1",
        field.name, d, field.shape[d]);
  }
  STOKER_ASSIGN_OR_RETURN(member.dtype, ParseDType(field.type));
  return member;
}

}  // namespace

void JsonlField::Describe(OptionTable<JsonlField>& table) {
  table
      .Field("type", &JsonlField::type, "what its values are; json: any value, as it stands there",
             OneOf{{"float32", "float64", "uint8", "int32", "int64", "bool", "text", "json"}})
      .Field("path", &JsonlField::path,
             "names with dots between, of lists numbers: a.b.0; empty: called as the field")
      .Field("shape", &JsonlField::shape,
             "of a list; a first extent of -1: as long as it is; empty: one value",
             Between(-1, kMostExtent))
      .Field("default", &JsonlField::default_value,
             "what stands for a missing value; empty: an error");
}

JsonlFields GuessJsonlFields(const std::vector<Json>& objects) {
  std::vector<Seen> all;
  for (const Json& object : objects) LookInto(object, "", all);
  std::vector<JsonlField> fields;
  for (const Seen& seen : all) {
    // What is an object here and there has its members as fields.
    const bool has_parts = std::ranges::any_of(
        all, [&](const Seen& other) { return other.path.starts_with(seen.path + "."); });
    if (!has_parts) fields.push_back(FieldFor(seen, std::ssize(objects)));
  }
  return JsonlFields(std::move(fields));
}

Result<JsonlPlan> PlanJsonlFields(const JsonlFields& fields) {
  JsonlPlan plan;
  std::set<std::string_view> used;
  for (const JsonlField& field : fields.fields()) {
    STOKER_RETURN_IF_ERROR(CheckOptionsOf(field));
    if (field.name.empty() || !used.insert(field.name).second)
      return InvalidArgument("jsonl: two fields are called '{}', or one has no name", field.name);
    STOKER_ASSIGN_OR_RETURN(JsonMember member, MemberOf(field));
    const bool numbers = member.kind == JsonMember::Kind::kNumbers;
    plan.spec.fields.push_back(
        {field.name, member.dtype, numbers ? member.shape : Shape{kUnknownDim}});
    plan.members.push_back(std::move(member));
  }
  return plan;
}

}  // namespace stoker
