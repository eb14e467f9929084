#include "stoker/tools/inspect_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/tools/text.h"

namespace stoker {

void DescribeFields(const RecordSchema& schema, Inspection& out) {
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"field", "type", "shape"}};
  for (const ElementField& field : schema.fields) {
    fields[field.name] = {{"dtype", DTypeName(field.dtype)}, {"shape", field.shape}};
    table.push_back({field.name, std::string(DTypeName(field.dtype)), ShapeToString(field.shape)});
  }
  out.json["fields"] = std::move(fields);
  out.text += TableText(ShortRows(std::move(table)), 2);
}

void DescribeOrigin(const RecordSchema& schema, Inspection& out) {
  constexpr size_t kMostNames = 8;
  out.json["origin"] = schema.origin;
  if (!schema.origin.empty()) out.text += fmt::format("  made from {}\n", schema.origin);
  if (schema.classes.empty()) return;
  out.json["classes"] = schema.classes;
  const auto shown = std::span(schema.classes).first(std::min(schema.classes.size(), kMostNames));
  out.text +=
      fmt::format("  {}: {}{}\n", CountText(std::ssize(schema.classes), "class", "classes"),
                  fmt::join(shown, ", "), shown.size() < schema.classes.size() ? ", ..." : "");
}

}  // namespace stoker
