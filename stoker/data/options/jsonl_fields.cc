#include "stoker/data/options/jsonl_fields.h"

#include <set>
#include <utility>

#include "stoker/base/problems.h"

namespace stoker {
namespace {

constexpr double kMostExtent = 1 << 30;

JsonlField FieldOf(const JsonMember& member) {
  JsonlField field{.name = member.path, .shape = member.shape};
  switch (member.kind) {
    case JsonMember::Kind::kText: field.type = "text"; break;
    case JsonMember::Kind::kJson: field.type = "json"; break;
    case JsonMember::Kind::kNumbers: field.type = DTypeName(member.dtype); break;
  }
  if (member.has_default) field.default_value = {member.default_text};
  return field;
}

Result<JsonMember> MemberOf(std::string_view op, const JsonlField& field) {
  STOKER_RETURN_IF_ERROR(CheckOptionsOf(field));
  JsonMember member{.path = field.path.empty() ? field.name : field.path,
                    .shape = field.shape,
                    .has_default = !field.default_value.empty(),
                    .default_text = field.default_value.empty() ? "" : field.default_value.front()};
  if (field.default_value.size() > 1) {
    return InvalidArgument("{}: field '{}': default has {} values, it is one for all", op,
                           field.name, field.default_value.size());
  }
  if (field.type == "text" || field.type == "json") {
    member.kind = field.type == "text" ? JsonMember::Kind::kText : JsonMember::Kind::kJson;
    member.dtype = DType::kUInt8;
    if (!field.shape.empty())
      return InvalidArgument("{}: field '{}': a {} has no shape of its own", op, field.name,
                             field.type);
    return member;
  }
  for (size_t d = 0; d < field.shape.size(); ++d) {
    if (field.shape[d] > 0 || (d == 0 && field.shape[d] == kUnknownDim)) continue;
    return InvalidArgument(
        "{}: field '{}': extent {} of the shape is {}; extents are 1 or more, the first may be -1",
        op, field.name, d, field.shape[d]);
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

JsonlFields FieldsOf(const std::vector<JsonMember>& members) {
  std::vector<JsonlField> fields;
  for (const JsonMember& member : members) fields.push_back(FieldOf(member));
  return JsonlFields(std::move(fields));
}

Result<JsonlPlan> PlanJsonlFields(std::string_view op, const JsonlFields& fields) {
  JsonlPlan plan;
  std::set<std::string_view> used;
  Problems problems;
  for (const JsonlField& field : fields.fields()) {
    if (field.name.empty() || !used.insert(field.name).second) {
      problems.Add(
          InvalidArgument("{}: two fields are called '{}', or one has no name", op, field.name));
    }
    JsonMember member;
    problems.Take(MemberOf(op, field), member);
    const bool numbers = member.kind == JsonMember::Kind::kNumbers;
    plan.spec.fields.push_back(
        {field.name, member.dtype, numbers ? member.shape : Shape{kUnknownDim}});
    plan.members.push_back(std::move(member));
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  return plan;
}

}  // namespace stoker
