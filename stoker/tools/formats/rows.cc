#include "stoker/tools/formats/rows.h"

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
#include "stoker/base/remote_path.h"
#include "stoker/base/utf8.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/jsonl.h"
#include "stoker/data/sources/libsvm.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/formats/element_sizes.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/text_kind.h"
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

// The first lines of the content, decompressed.
Result<std::string> ReadFirstLines(const std::string& path) {
  constexpr size_t kLookedAt = 64 << 10;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::string text(kLookedAt, '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t size,
                          source->ReadFully(std::as_writable_bytes(std::span(text))));
  text.resize(size);
  return text;
}

constexpr std::string_view kCsvEndings[] = {".csv", ".tsv"};
constexpr std::string_view kJsonlEndings[] = {".jsonl", ".ndjson"};
constexpr std::string_view kLibsvmEndings[] = {".libsvm", ".svm", ".svmlight"};

bool EndsIn(const ProbedFile& file, std::span<const std::string_view> endings) {
  return std::ranges::find(endings, file.extension()) != endings.end();
}

// By the name or, of what is piped in and has none, by the first lines.
Result<bool> AreRows(const ProbedFile& file, std::span<const std::string_view> endings,
                     TextKind kind) {
  if (EndsIn(file, endings)) return true;
  const bool text = file.content == FileKind::kText || file.content == FileKind::kJson;
  if (!IsStandardInput(file.path) || !text) return false;
  STOKER_ASSIGN_OR_RETURN(const std::string lines, ReadFirstLines(file.path));
  return KindOfLines(lines) == kind;
}

}  // namespace

bool IsNamedAsRows(const ProbedFile& file) {
  return EndsIn(file, kCsvEndings) || EndsIn(file, kJsonlEndings) || EndsIn(file, kLibsvmEndings);
}

const FileFormat kCsvFormat = {
    .name = "csv",
    .holds = [](const ProbedFile& file) { return AreRows(file, kCsvEndings, TextKind::kCsv); },
    .checks = "that every row can be parsed",
    .inspect = [](const ProbedFile& file) { return InspectCsv(file.path); },
    .recipe =
        [](const ProbedFile& file) {
          return fmt::format("csv: {{files: {}, fields: {{...}}}}", file.path);
        },
    .open =
        [](const std::string& path, const Json&) {
          return Source(Csv{.files = path, .na_values = UsualMissingMarks(), .index = "none"});
        },
};

const FileFormat kJsonlFormat = {
    .name = "jsonl",
    .holds = [](const ProbedFile& file) { return AreRows(file, kJsonlEndings, TextKind::kJsonl); },
    .checks = "that every line can be parsed",
    .inspect = [](const ProbedFile& file) { return InspectJsonl(file.path); },
    .recipe =
        [](const ProbedFile& file) {
          return fmt::format("jsonl: {{files: {}, fields: {{...}}}}", file.path);
        },
    .open = [](const std::string& path,
               const Json&) { return Source(Jsonl{.files = path, .index = "none"}); },
};

const FileFormat kLibsvmFormat = {
    .name = "libsvm",
    .holds =
        [](const ProbedFile& file) { return AreRows(file, kLibsvmEndings, TextKind::kLibsvm); },
    .checks = "that every line can be parsed",
    .inspect = [](const ProbedFile& file) { return InspectLibsvm(file.path); },
    .recipe =
        [](const ProbedFile& file) {
          return fmt::format("libsvm: {{files: {}, features: ...}}", file.path);
        },
    .open =
        [](const std::string& path, const Json& inspected) {
          const bool one = inspected["fields"]["label"]["shape"].empty();
          return Source(Libsvm{.files = path,
                               .first_index = 0,
                               .label = one ? "float32" : "several",
                               .index = "none"});
        },
};

}  // namespace stoker
