// Any line is a sample whose features are where they may be, or an error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stoker/formats/libsvm/libsvm_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size == 0) return 0;
  const LibsvmForm form{.first_index = data[0] & 1, .features = data[0] & 2 ? 10 : 0};
  const std::string_view line(reinterpret_cast<const char*>(data) + 1, size - 1);
  LibsvmSample sample;
  if (!ParseLibsvm(line, form, sample).ok()) return 0;
  if (sample.labels.empty() || sample.indices.size() != sample.values.size()) std::abort();
  int64_t last = -1;
  for (const int64_t index : sample.indices) {
    if (index <= last || (form.features > 0 && index >= form.features)) std::abort();
    last = index;
  }
  return 0;
}
