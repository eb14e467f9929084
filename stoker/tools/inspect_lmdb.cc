#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "stoker/data/sources/lmdb_files_internal.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/tools/inspect_schema.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

namespace stoker {

Result<Inspection> InspectLmdb(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const LmdbFile file, LmdbFile::Open(path));
  uint64_t smallest = file.longest_value(), total = 0;
  for (int64_t i = 0; i < file.size(); ++i) {
    smallest = std::min<uint64_t>(smallest, file.value(i).size());
    total += file.value(i).size();
  }
  Inspection out;
  out.json = {{"file", path},
              {"format", "lmdb"},
              {"count", file.size()},
              {"value_bytes", total},
              {"fields", {{"value", {{"smallest", smallest}, {"largest", file.longest_value()}}}}}};
  out.text = fmt::format("{}: LMDB, {} values of {} to {} bytes, {}\n", path, file.size(), smallest,
                         file.longest_value(), ByteText(total));
  const auto printable = [](std::string_view key) {
    return std::ranges::all_of(key, [](char c) { return c >= ' ' && c < 0x7f; });
  };
  if (file.size() > 0 && printable(file.key(0))) {
    out.json["first_key"] = std::string(file.key(0));
    out.text += fmt::format("  the first key is '{}'\n", file.key(0));
  }
  STOKER_ASSIGN_OR_RETURN(const LmdbFiles packed, LmdbFiles::Open({path}, "", ""));
  if (!packed.packed()) return out;
  out.json["values"] = file.size();
  out.json["count"] = packed.size();
  out.text +=
      fmt::format("  packed: {} records\n", WithThousands(static_cast<double>(packed.size())));
  DescribeFields(*packed.packed(), out);
  DescribeOrigin(*packed.packed(), out);
  return out;
}

}  // namespace stoker
