#include "stoker/tools/formats/samples.h"

#include "stoker/data/nodes/from_arrays.h"

namespace stoker {

Result<Dataset> SamplesOf(Result<Array> rows) {
  if (!rows.ok()) return rows.status();
  return FromArrays({{"value", *rows}});
}

}  // namespace stoker
