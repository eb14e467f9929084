#include "stoker/tools/formats/inspect_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/tools/program/text.h"

namespace stoker {

void DescribeFields(const RecordSchema& schema, const ElementSizes* sizes, Inspection& out) {
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"field", "type", "shape"}};
  if (sizes != nullptr) table.front().emplace_back("size");
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    const ElementField& field = schema.fields[f];
    Json& json = fields[field.name] = {{"dtype", DTypeName(field.dtype)}, {"shape", field.shape}};
    table.push_back({field.name, std::string(DTypeName(field.dtype)), ShapeToString(field.shape)});
    if (sizes == nullptr || sizes->field(f).count == 0) continue;
    table.back().push_back(sizes->field(f).ToText());
    if (!IsFullyKnown(field.shape)) json.update(sizes->field(f).ToJson());
  }
  if (sizes != nullptr) out.json["record_bytes"] = sizes->element().ToJson();
  out.json["fields"] = std::move(fields);
  out.text += TableText(ShortRows(std::move(table)), 2);
}

void DescribeOrigin(const RecordSchema& schema, Inspection& out) {
  constexpr size_t kMostNames = 8;
  out.json["origin"] = schema.origin;
  if (!schema.origin.empty()) out.text += fmt::format("  made from {}\n", Printable(schema.origin));
  if (schema.classes.empty()) return;
  out.json["classes"] = schema.classes;
  const auto shown = std::span(schema.classes).first(std::min(schema.classes.size(), kMostNames));
  out.text += fmt::format("  {}: {}{}\n", CountText(std::ssize(schema.classes), "class", "classes"),
                          Printable(fmt::format("{}", fmt::join(shown, ", "))),
                          shown.size() < schema.classes.size() ? ", ..." : "");
}

}  // namespace stoker
