// What the doctor needs to know of a recipe: the keys that it may change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/doctor/run_profile.h"

namespace stoker {

// Returns the value at a dotted path of maps; null if there is none.
const ConfigNode* NodeAt(const ConfigNode& recipe, std::string_view path);

// Returns the whole number at such a path; nothing if there is none, as for `auto`.
std::optional<int64_t> IntegerAt(const ConfigNode& recipe, std::string_view path);

// Returns the facts that the text of the recipe shows: all but the place of a cache.
RecipeFacts FactsOf(const ConfigNode& recipe);

// Finds where a `cache` in data.train would save the most, and writes it into `facts`: the last
// place before batches, and before what is quick, at which no stage that precedes it draws at
// random; a `shuffle` is moved after it, if only maps lie between. What data.source has precedes
// data.train, so the place may be before all stages of that. Builds pipelines and reads a few
// elements.
//   folder          of the recipe
//   source_is_slow  whether a cache of what the source alone makes is worth its memory
void FindCachePlace(const ConfigNode& recipe, const std::filesystem::path& folder,
                    bool source_is_slow, RecipeFacts& facts);

}  // namespace stoker
