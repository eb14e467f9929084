#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/formats/npy/npy.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

namespace stoker {

Result<Inspection> InspectNpy(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Array array, ReadNpy(path));
  Inspection out;
  out.json = {{"file", path},
              {"kind", "NumPy"},
              {"dtype", DTypeName(array.dtype())},
              {"shape", array.shape()}};
  out.text = fmt::format("{}: NumPy array, {}, {}; whole\n", path, array.ToString(),
                         ByteText(array.num_bytes()));
  return out;
}

Result<Inspection> InspectNpz(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const NamedArrays arrays, ReadNpz(path));
  Inspection out;
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"array", "type", "size"}};
  for (const auto& [name, array] : arrays) {
    fields[name] = {{"dtype", DTypeName(array.dtype())}, {"shape", array.shape()}};
    table.push_back({name, array.ToString(), ByteText(array.num_bytes())});
  }
  out.json = {{"file", path},
              {"kind", "NumPy archive"},
              {"arrays", arrays.size()},
              {"fields", std::move(fields)}};
  out.text = fmt::format("{}: NumPy archive, {} arrays; whole\n", path, arrays.size());
  out.text += TableText(table, 2);
  return out;
}

}  // namespace stoker
