#include <fmt/format.h>

#include <string>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/data/sources/snapshot.h"
#include "stoker/formats/elements/element_file.h"
#include "stoker/tools/formats/element_sizes.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/inspect_schema.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

Result<Inspection> InspectElements(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const ElementFile file, ElementFile::Open(path));
  const RecordSchema schema{.fields = file.header().fields, .origin = file.header().origin};
  ElementSizes sizes(schema.fields.size());
  Status first;  // of what is wrong
  int64_t damaged = 0;
  for (int64_t position = 0; position < file.size(); ++position) {
    const Result<ElementLayout::Record> record = file.Read(position);
    if (record.ok()) {
      sizes.Add(record->arrays);
    } else if (damaged++ == 0) {
      first = record.status();
    }
  }
  Inspection out;
  if (damaged > 0) {
    out.damage = DataLoss("{}; {} of {} are damaged", first.message(), damaged,
                          CountText(file.size(), "record"));
  }
  out.json = {{"file", path}, {"format", "elements"}, {"count", file.size()}, {"damaged", damaged}};
  out.text = fmt::format("{}: elements of a cache or snapshot, {}{}; {}\n", Printable(path),
                         CountText(file.size(), "record"), sizes.InBrackets(),
                         damaged > 0 ? "damaged" : "whole");
  DescribeFields(schema, &sizes, out);
  out.json["origin"] = schema.origin;
  return out;
}

}  // namespace

const FileFormat kElementsFormat = {
    .name = "elements",
    .holds = [](const ProbedFile& file) -> Result<bool> {
      return file.stored == FileKind::kElements;
    },
    .inspect = [](const ProbedFile& file) { return InspectElements(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("snapshot: {}", file.path); },
    .open = [](const std::string& path, const Json&) { return Source(Snapshot{.path = path}); },
};

}  // namespace stoker
