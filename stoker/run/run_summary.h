// summary.json: the figures of a run that has come to its end.
#pragma once

#include <filesystem>
#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Reads it; nothing if the run has not finished. Errors: kDataLoss if it is no JSON object; those
// of reading.
Result<std::optional<Json>> ReadRunSummary(const std::filesystem::path& root);

}  // namespace stoker
