#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/jsonl.h"
#include "stoker/data/sources/libsvm.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/inspect/element_sizes.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

bool IsText(const Field& field) {
  return field.dtype == DType::kUInt8 && field.shape == Shape{kUnknownDim};
}

std::string TypeOf(const Field& field) {
  const std::string dtype(DTypeName(field.dtype));
  if (field.shape.empty()) return dtype;
  return IsText(field) ? "text" : dtype + ShapeToString(field.shape);
}

// Reads all rows of a file in order, up to an error. `look` is handed each.
template <typename Look>
Result<Inspection> InspectRows(const std::string& path, std::string_view format,
                               const Dataset& rows, const Look& look) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass,
                          rows.Open(Runtime::Inline(), {.losses = LossLogging::kNone}));
  Inspection out;
  ElementSizes sizes(rows.spec().fields.size());
  while (out.damage.ok()) {
    const Result<std::optional<Element>> row = pass->Next();
    out.damage = row.status();
    if (!row.ok() || !*row) break;
    look(**row);
    sizes.Add((**row).arrays);
  }
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"field", "type", "size"}};
  for (size_t f = 0; f < rows.spec().fields.size(); ++f) {
    const Field& field = rows.spec().fields[f];
    Json& json = fields[field.name] = {{"dtype", IsText(field) ? "text" : DTypeName(field.dtype)},
                                       {"shape", IsText(field) ? Shape{} : field.shape}};
    table.push_back({field.name, TypeOf(field), sizes.field(f).ToText()});
    if (!IsFullyKnown(field.shape) && sizes.field(f).count > 0)
      json.update(sizes.field(f).ToJson());
  }
  const int64_t count = sizes.element().count;
  out.json = {{"file", path},
              {"format", format},
              {"count", count},
              {"record_bytes", sizes.element().ToJson()},
              {"fields", std::move(fields)}};
  out.text =
      fmt::format("{}: {}, {} of {}{}{}\n", Printable(path), format, CountText(count, "record"),
                  CountText(std::ssize(rows.spec().fields), "field"), sizes.InBrackets(),
                  out.damage.ok() ? "; whole" : " up to an error");
  out.text += TableText(ShortRows(std::move(table)), 2);
  return out;
}

// Whether there is a line that may be a row. Of a line only the first bytes are held, however long
// it is. Errors: those of reading what precedes it.
Result<bool> HasRows(const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::array<char, 4096> part;
  while (true) {
    const bool first = source->position() == 0;
    STOKER_ASSIGN_OR_RETURN(const size_t size,
                            source->ReadFully(std::as_writable_bytes(std::span(part))));
    std::string_view text(part.data(), size);
    if (first && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.find_first_not_of("\r\n") != std::string_view::npos) return true;
    if (size < part.size()) return false;
  }
}

// A file of no lines is whole, though no source can tell its fields.
Inspection NoRows(const std::string& path, std::string_view format) {
  Inspection out;
  out.json = {{"file", path}, {"format", format}, {"count", 0}, {"fields", Json::object()}};
  out.text = fmt::format("{}: {}, no records; whole\n", path, format);
  return out;
}

}  // namespace

Result<Inspection> InspectCsv(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const bool any, HasRows(path));
  if (!any) return NoRows(path, "csv");
  // A value that is missing is no damage.
  STOKER_ASSIGN_OR_RETURN(
      const Dataset rows,
      Source(Csv{.files = path, .na_values = UsualMissingMarks(), .index = "none"}));
  return InspectRows(path, "csv", rows, [](const Element&) {});
}

Result<Inspection> InspectJsonl(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const bool any, HasRows(path));
  if (!any) return NoRows(path, "jsonl");
  STOKER_ASSIGN_OR_RETURN(const Dataset rows, Source(Jsonl{.files = path, .index = "none"}));
  return InspectRows(path, "jsonl", rows, [](const Element&) {});
}

Result<Inspection> InspectLibsvm(const std::string& path) {
  // Most files have one label a line; those of several classes have whole numbers.
  Inspection best;
  for (const char* const label : {"float32", "several"}) {
    const Libsvm sparse{.files = path, .first_index = 0, .label = label, .index = "none"};
    STOKER_ASSIGN_OR_RETURN(const Dataset rows, Source(sparse));
    int64_t largest = -1;
    const auto look = [&](const Element& row) {
      for (const int64_t index : row.arrays[0].values<int64_t>())
        largest = std::max(largest, index);
    };
    STOKER_ASSIGN_OR_RETURN(Inspection found, InspectRows(path, "libsvm", rows, look));
    if (!best.text.empty() && found.json["count"] <= best.json["count"]) continue;
    found.json["largest_index"] = largest;
    found.text += fmt::format("  largest index {}\n", largest);
    best = std::move(found);
    if (best.damage.ok()) break;
  }
  return best;
}

}  // namespace stoker
