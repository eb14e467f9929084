#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "stoker/formats/shard/shard_file.h"
#include "stoker/tools/inspect_schema.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

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

}  // namespace

Result<Inspection> InspectStoker(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::Open(path));
  const Damages damages = FindDamages(file);
  int64_t page_records = 0;
  for (int64_t page = 0; page < file.pages(); ++page)
    page_records = std::max(page_records, file.page(page).records);
  Inspection out;
  out.json = {{"file", path},
              {"format", "stoker"},
              {"count", file.size()},
              {"bytes", file.bytes()},
              {"pages", file.pages()},
              {"page_records", page_records},
              {"blocks", file.blocks()},
              {"damaged_blocks", damages.blocks}};
  out.text = fmt::format("{}: .stoker shard, {}, {}, {} of up to {}; {}\n", path,
                         CountText(file.size(), "record"), ByteText(file.bytes()),
                         CountText(file.pages(), "page"), CountText(page_records, "record"),
                         damages.first ? "damaged" : "whole");
  DescribeFields(file.schema(), out);
  DescribeOrigin(file.schema(), out);
  out.damage = DamageStatus(file, damages);
  return out;
}

}  // namespace stoker
