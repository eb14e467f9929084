// The JSON header of a safetensors file: converts its text to entries and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker::internal {

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their data
  SafetensorsMetadata metadata;
};

inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

// Reads and checks the header: types, sizes, names, and that the entries fill `data_bytes` without
// gap or overlap.
//   name  what errors call the file
Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text, uint64_t data_bytes,
                                                 const std::string& name);

// Returns the header's text, not yet padded. Errors: kInvalidArgument for text that is not UTF-8.
Result<std::string> SafetensorsHeaderText(const SafetensorsHeader& header);

// Returns the order in which the format's own library stores types: a type of higher rank comes
// first.
int SafetensorsRank(DType dtype);

}  // namespace stoker::internal
