#include "stoker/formats/record_fields.h"

#include <algorithm>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/formats/array_bytes.h"

namespace stoker {
namespace {

Result<ElementField> ParseField(const Json& json) {
  ElementField field;
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("dtype") || !json["dtype"].is_string() || !json.contains("shape") ||
      !json["shape"].is_array()) {
    return DataLoss("a field has no name, dtype or shape");
  }
  field.name = json["name"].get<std::string>();
  STOKER_ASSIGN_OR_RETURN(field.dtype, ParseDType(json["dtype"].get<std::string>()));
  for (const Json& extent : json["shape"]) {
    if (!extent.is_number_integer() || extent.get<int64_t>() < kUnknownDim)
      return DataLoss("field '{}' has an extent that is none", field.name);
    field.shape.push_back(extent.get<int64_t>());
  }
  Shape known = field.shape;
  std::ranges::replace(known, kUnknownDim, 0);
  if (!ArrayBytes(field.dtype, known)) return DataLoss("field '{}' is too large", field.name);
  return field;
}

}  // namespace

Json RecordFieldsToJson(std::span<const ElementField> fields) {
  Json json = Json::array();
  for (const ElementField& field : fields) {
    json.push_back(
        {{"name", field.name}, {"dtype", DTypeName(field.dtype)}, {"shape", field.shape}});
  }
  return json;
}

Result<std::vector<ElementField>> RecordFieldsFromJson(const Json& json) {
  if (!json.is_array()) return DataLoss("the fields are no list");
  std::vector<ElementField> fields;
  for (const Json& json_field : json) {
    STOKER_ASSIGN_OR_RETURN(ElementField field, ParseField(json_field));
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string RecordSchemaToText(const RecordSchema& schema) {
  Json json = {{"fields", RecordFieldsToJson(schema.fields)}, {"origin", schema.origin}};
  if (!schema.classes.empty()) json["classes"] = schema.classes;
  return DumpJson(json);
}

Result<RecordSchema> ParseRecordSchema(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("fields") || !json.contains("origin") ||
      !json["origin"].is_string()) {
    return DataLoss("the schema is no JSON object with fields and origin");
  }
  RecordSchema schema{.origin = json["origin"].get<std::string>()};
  STOKER_ASSIGN_OR_RETURN(schema.fields, RecordFieldsFromJson(json["fields"]));
  if (schema.fields.empty()) return DataLoss("the schema has no fields");
  if (!json.contains("classes")) return schema;
  const bool names =
      json["classes"].is_array() && std::ranges::all_of(json["classes"], &Json::is_string);
  if (!names) return DataLoss("the schema's classes are no list of names");
  schema.classes = json["classes"].get<std::vector<std::string>>();
  return schema;
}

}  // namespace stoker
