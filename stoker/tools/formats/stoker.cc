#include "stoker/data/sources/stoker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/tools/formats/element_sizes.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/inspect_schema.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

struct Damages {
  int64_t blocks = 0;
  std::optional<ShardFile::Damage> first;
};

Damages FindDamages(const ShardFile& file) {
  Damages damages;
  for (int64_t block = 0; block < file.blocks(); ++block) {
    if (file.CheckBlock(block)) continue;
    if (damages.blocks++ == 0) damages.first = file.DamageOf(block);
  }
  return damages;
}

Status DamageStatus(const ShardFile& file, const Damages& damages) {
  if (!damages.first) return OkStatus();
  return DataLoss(
      "{}: {} of {} blocks do not have their checksum; the first begins at byte {} and is part of "
      "records {} to {}; make the file again",
      file.name(), damages.blocks, file.blocks(), damages.first->begin, damages.first->first,
      damages.first->first + damages.first->records - 1);
}

// The sizes of all records that can be read.
ElementSizes SizesOf(const ShardFile& file) {
  const std::vector<ElementField>& fields = file.schema().fields;
  ElementSizes sizes(fields.size());
  const bool equal = std::ranges::all_of(
      fields, [](const ElementField& field) { return IsFullyKnown(field.shape); });
  for (int64_t record = 0; record < file.size(); ++record) {
    const Result<std::vector<Array>> arrays = file.Read(record);
    if (arrays.ok()) sizes.Add(*arrays, equal ? file.size() : 1);
    if (arrays.ok() && equal) break;
  }
  return sizes;
}

Result<Inspection> InspectStoker(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::Open(path));
  const Damages damages = FindDamages(file);
  int64_t page_records = 0;
  for (int64_t page = 0; page < file.pages(); ++page)
    page_records = std::max(page_records, file.page(page).records);
  const ElementSizes sizes = SizesOf(file);
  Inspection out;
  out.json = {{"file", path},
              {"format", "stoker"},
              {"count", file.size()},
              {"bytes", file.bytes()},
              {"pages", file.pages()},
              {"page_records", page_records},
              {"blocks", file.blocks()},
              {"damaged_blocks", damages.blocks}};
  out.text = fmt::format("{}: .stoker shard, {}{}, {}, {} of up to {}; {}\n", Printable(path),
                         CountText(file.size(), "record"), sizes.InBrackets(),
                         ByteText(file.bytes()), CountText(file.pages(), "page"),
                         CountText(page_records, "record"), damages.first ? "damaged" : "whole");
  DescribeFields(file.schema(), &sizes, out);
  DescribeOrigin(file.schema(), out);
  out.damage = DamageStatus(file, damages);
  return out;
}

// Every damaged block.
Status ListBlocks(const ProbedFile& probed, const Inspection&, Verification& out) {
  STOKER_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::Open(probed.path));
  for (int64_t block = 0; block < file.blocks(); ++block) {
    if (file.CheckBlock(block)) continue;
    const ShardFile::Damage damage = file.DamageOf(block);
    out.damages.push_back(
        {damage.begin, damage.bytes, "a block without its checksum", damage.first, damage.records});
  }
  return OkStatus();
}

}  // namespace

const FileFormat kStokerFormat = {
    .name = "stoker",
    .holds = [](const ProbedFile& file) -> Result<bool> {
      return file.stored == FileKind::kStoker;
    },
    .inspect = [](const ProbedFile& file) { return InspectStoker(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("stoker: {}", file.path); },
    .open = [](const std::string& path, const Json&) { return Source(Stoker{.files = path}); },
    .pack = [](const std::string& files) { return PackSourceOf(Stoker{.files = files}); },
    .verify = ListBlocks,
};

}  // namespace stoker
