#include "stoker/tools/program/text.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/data/sources/lines.h"
#include "stoker/formats/text/line_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/tools/formats/element_sizes.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/unknown.h"

namespace stoker {
namespace {

// Lines that nothing else is known of: by the content, or by the name where the first bytes may be
// those of a text.
Result<bool> IsText(const ProbedFile& file) {
  if (file.content == FileKind::kText) return true;
  return file.extension() == ".txt" &&
         (file.content == FileKind::kJson || file.content == FileKind::kUnknown);
}

// How many lines, and how long they are.
Result<Inspection> InspectText(const std::string& path, std::string_view compression) {
  constexpr int64_t kMostHeld = 1 << 20;  // of a longer line only the length is shown
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  LineReader lines(std::move(source), kMostHeld);
  SizeSummary sizes;
  Inspection out;
  while (out.damage.ok()) {
    const Result<std::optional<Line>> line = lines.Next();
    out.damage = line.status();
    if (!line.ok() || !*line) break;
    sizes.Add((**line).too_long ? (**line).length : (**line).text.size());
  }
  Json field{{"dtype", "text"}, {"shape", Shape{}}};
  if (sizes.count > 0) field.update(sizes.ToJson());
  out.json = {{"file", path},
              {"format", "text"},
              {"count", sizes.count},
              {"bytes", file.size()},
              {"fields", {{"text", std::move(field)}}}};
  if (!compression.empty()) {
    out.json["compressed"] = compression;
    out.json["decompressed_bytes"] = lines.offset();
  }
  const bool told_whole = out.damage.ok() && !compression.empty();
  out.text = fmt::format("{}: text, {}{}, {}{}\n", Printable(path), CountText(sizes.count, "line"),
                         sizes.count > 0 ? fmt::format(" of {}", sizes.ToText()) : "",
                         ByteText(lines.offset()),
                         !out.damage.ok() ? " up to an error"
                         : told_whole     ? "; whole"
                                          : "");
  return out;
}

}  // namespace

const FileFormat kTextFormat = {
    .name = "text",
    .holds = IsText,
    .known_by_content = false,
    .inspect = [](const ProbedFile& file) { return InspectText(file.path, file.compression); },
    .recipe = [](const ProbedFile& file) { return fmt::format("lines: {}", file.path); },
    .open = [](const std::string& path, const Json&) { return Source(Lines{.path = path}); },
    .verify = VerifyUnknown,
};

}  // namespace stoker
