#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/tools/array_rows.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

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
  STOKER_ASSIGN_OR_RETURN(const NamedArrays arrays, ReadNpz(path));
  Inspection out;
  Json fields = Json::object();
  bool agree = true;  // in the number of rows
  std::vector<std::vector<std::string>> table = {{"array", "type", "size"}};
  for (const auto& [name, array] : arrays) {
    fields[name] = RowJson(array);
    if (RowsOf(array) != RowsOf(arrays.begin()->second)) agree = false;
    table.push_back({name, array.ToString(), ByteText(array.num_bytes())});
  }
  out.json = {{"file", path},
              {"format", "npz"},
              {"arrays", arrays.size()},
              {"count", agree && !arrays.empty() ? Json(RowsOf(arrays.begin()->second)) : Json()},
              {"fields", std::move(fields)}};
  out.text = fmt::format("{}: NumPy archive, {}; whole\n", Printable(path),
                         CountText(std::ssize(arrays), "array"));
  out.text += TableText(table, 2);
  return out;
}

}  // namespace stoker
