// Whatever stands in a checkpoint is refused or is the keys of some elements: these pack to a text
// that gives them again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "stoker/data/nodes/packed_keys.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto keys = stoker::UnpackKeys(text, data[0]);
  if (!keys.ok()) return 0;
  const auto again = stoker::UnpackKeys(stoker::PackKeys(*keys), data[0]);
  if (!again.ok() || *again != *keys) std::abort();
  return 0;
}
