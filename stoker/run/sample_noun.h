// What messages, progress lines and summaries call a sample.
#pragma once

#include <string_view>

#include "stoker/run/registry.h"

namespace stoker {

// Returns what messages call such a sample: "image", "sequence" of tokens or steps, or "sample" for
// a row of numbers.
inline std::string_view NounOf(const ModelInput& input) {
  if (!input.parts.empty()) return "sample";
  if (input.tokens || input.steps) return "sequence";
  return input.height > 1 || input.width > 1 ? "image" : "sample";
}

}  // namespace stoker
