#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/registry.h"
#include "stoker/data/runtime.h"
#include "stoker/data/sources/csv.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

namespace stoker {

Result<Inspection> InspectCsv(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Dataset rows, Source(Csv{.files = path, .index = "none"}));
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass, rows.Open(Runtime::Inline()));
  Inspection out;
  int64_t count = 0;
  while (out.damage.ok()) {
    const Result<std::optional<Element>> row = pass->Next();
    out.damage = row.status();
    if (!row.ok() || !*row) break;
    ++count;
  }
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"field", "type"}};
  for (const Field& field : rows.spec().fields) {
    const std::string type =
        field.shape.empty() ? std::string(DTypeName(field.dtype)) : std::string("text");
    fields[field.name] = type;
    table.push_back({field.name, type});
  }
  out.json = {{"file", path}, {"kind", "CSV"}, {"records", count}, {"fields", std::move(fields)}};
  out.text =
      fmt::format("{}: CSV, {} records of {} fields{}\n", path, count, rows.spec().fields.size(),
                  out.damage.ok() ? "; whole" : " up to an error");
  out.text += TableText(table, 2);
  return out;
}

}  // namespace stoker
