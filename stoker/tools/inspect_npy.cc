#include <fmt/format.h>

#include <string>

#include "stoker/formats/npy/npy.h"
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

}  // namespace stoker
