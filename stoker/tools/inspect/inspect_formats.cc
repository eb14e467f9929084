#include "stoker/tools/formats/file_format.h"
#include "stoker/tools/inspect/inspect_file.h"
#include "stoker/tools/program/text.h"

namespace stoker {

Inspection InspectFormats() {
  Inspection out;
  std::vector<std::vector<std::string>> table = {{"format", "recipe line", "pack takes it"}};
  Json formats = Json::array();
  for (const FileFormat* const format : FileFormats()) {
    if (format->recipe == nullptr || format->open == nullptr) continue;  // no source of samples
    const std::string recipe = format->recipe({.path = "FILE"});
    const bool packed = format->pack != nullptr;
    formats.push_back({{"format", format->name}, {"recipe", recipe}, {"packed", packed}});
    table.push_back({std::string(format->name), recipe, packed ? "as it is" : "by a recipe"});
  }
  out.json = {{"formats", std::move(formats)}};
  out.text = TableText(table, 0);
  return out;
}

}  // namespace stoker
