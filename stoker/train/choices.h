// Choices: what the tuner decided that can change a result's bits. Written into the run and used
// again on resume (design, invariant 8).
#pragma once

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

enum class MemoryFormat { kContiguous, kChannelsLast };

// "contiguous", "channels_last"
std::string_view MemoryFormatName(MemoryFormat format);
Result<MemoryFormat> ParseMemoryFormat(std::string_view name);

struct Choices {
  MemoryFormat memory_format = MemoryFormat::kContiguous;
  int threads = 1;             // that compute; those that feed do not count
  std::string device = "cpu";  // which `device: auto` found: "cpu", "cuda:0"

  bool operator==(const Choices&) const = default;
  Json ToJson() const;
  static Result<Choices> FromJson(const Json& json);
};

}  // namespace stoker
