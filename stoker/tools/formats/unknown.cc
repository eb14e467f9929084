#include "stoker/tools/formats/unknown.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/picture.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// Reads to the end, where the checksum is, and counts.
Result<uint64_t> DecompressedBytes(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::vector<std::byte> chunk(1 << 20);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t size, source->ReadFully(chunk));
    if (size < chunk.size()) return source->position();
  }
}

// Its name and size, and what is around it.
Result<Inspection> InspectUnknown(const ProbedFile& file) {
  Inspection out;
  out.json = {{"file", file.path}, {"format", FileKindName(file.content)}, {"bytes", file.bytes}};
  out.text =
      fmt::format("{}: {}, {}", Printable(file.path), file.stored_name(), ByteText(file.bytes));
  if (!file.compression.empty()) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, DecompressedBytes(file.path));
    out.json["compressed"] = file.compression;
    out.json["decompressed_bytes"] = bytes;
    out.text += fmt::format("; whole, holds {}, {}", FileKindName(file.content), ByteText(bytes));
  }
  out.text += '\n';
  return out;
}

}  // namespace

Status VerifyUnknown(const ProbedFile& file, const Inspection& inspected, Verification& out) {
  if (!file.compression.empty()) return inspected.damage;
  if (IsNamedAsPicture(file.path)) return DecodePicture(file.path);
  out.unchecked = fmt::format("it is {}, which has nothing to check it by", out.format);
  return OkStatus();
}

const FileFormat kOtherFormat = {
    .name = "other",
    .holds = [](const ProbedFile&) -> Result<bool> { return true; },
    .known_by_content = false,
    .inspect = InspectUnknown,
    .recipe =
        [](const ProbedFile& file) {
          const FileFormat& format = file.stored == FileKind::kJson ? kJsonlFormat : kCsvFormat;
          return format.recipe(file);
        },
    .verify = VerifyUnknown,
};

}  // namespace stoker
