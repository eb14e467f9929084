// The result of `stoker inspect`, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Inspection {
  std::string text = {};  // whole lines
  // The same facts. For every data file "format", "count" (the samples that the format's source
  // would make; null if that is not one number) and "fields", by their names.
  Json json = {};
  Status damage = {};  // its damage, if it could be described all the same
  // Of the first samples, where that is known before they are read.
  std::vector<uint64_t> first_sample_bytes = {};
};

}  // namespace stoker
