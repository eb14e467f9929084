#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/formats/array_bytes.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/tools/inspect/array_rows.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/program/text.h"

namespace stoker {

Result<Inspection> InspectNpy(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Array array, ReadNpy(path));
  Inspection out;
  out.json = {{"file", path},
              {"format", "npy"},
              {"count", RowsOf(array)},
              {"fields", {{"value", RowJson(array)}}},
              {"dtype", DTypeName(array.dtype())},
              {"shape", array.shape()}};
  out.text = fmt::format("{}: NumPy array, {}, {}; whole\n", Printable(path), array.ToString(),
                         ByteText(array.num_bytes()));
  return out;
}

Result<Inspection> InspectNpz(const std::string& path) {
  // Nothing is held of the values, which may be very many in a small file.
  STOKER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
  Inspection out;
  Json fields = Json::object();
  bool agree = true;  // in the number of rows
  std::vector<std::vector<std::string>> table = {{"array", "type", "size"}};
  for (const NpzEntry& entry : file.entries()) {
    STOKER_RETURN_IF_ERROR(file.Verify(entry));
    const auto& [dtype, shape] = std::tie(entry.header.dtype, entry.header.shape);
    fields[entry.name] = RowJson(dtype, shape);
    if (RowsOf(shape) != RowsOf(file.entries().front().header.shape)) agree = false;
    table.push_back({entry.name, fmt::format("{}{}", DTypeName(dtype), ShapeToString(shape)),
                     ByteText(*ArrayBytes(dtype, shape))});
  }
  const auto arrays = std::ssize(file.entries());
  out.json = {
      {"file", path},
      {"format", "npz"},
      {"arrays", arrays},
      {"count", agree && arrays > 0 ? Json(RowsOf(file.entries().front().header.shape)) : Json()},
      {"fields", std::move(fields)}};
  out.text =
      fmt::format("{}: NumPy archive, {}; whole\n", Printable(path), CountText(arrays, "array"));
  out.text += TableText(table, 2);
  return out;
}

}  // namespace stoker
