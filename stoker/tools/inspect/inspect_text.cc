#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/formats/text/line_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/tools/inspect/element_sizes.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/program/text.h"

namespace stoker {

Result<Inspection> InspectText(const std::string& path, std::string_view compression) {
  constexpr int64_t kMostHeld = 1 << 20;  // of a longer line only the length is told
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

}  // namespace stoker
