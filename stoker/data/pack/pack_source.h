// A pipeline to pack, and where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/options/registry.h"

namespace stoker {

struct PackSourceOptions {
  std::string of = "train";              // or eval: which pipeline
  std::optional<int64_t> stages;         // only the first so many entries of its list
  std::vector<std::string> assignments;  // `--set`
};

struct PackSource {
  Dataset dataset;
  std::vector<std::string> classes;  // what labels stand for; may be empty
  std::string settings;  // what it is, with all options: what PackOptions::settings is for
  std::vector<std::string> files = {};  // what it is told by, beside what the pipeline reads
};

// One of the pipelines of a recipe, or the begin of it. Errors: kInvalidArgument for a recipe
// without that pipeline, and for one that gives batches, with the number of stages to pack instead;
// those of the sources.
Result<PackSource> PackSourceOfRecipe(const std::string& path, const PackSourceOptions& options);

namespace internal {
PackSource PackSourceOf(Dataset dataset, std::string_view name, const ConfigNode& options);
}  // namespace internal

// The elements of one source (data/sources) as they are. Errors: those of the source.
template <typename Options>
Result<PackSource> PackSourceOf(const Options& options) {
  STOKER_ASSIGN_OR_RETURN(Dataset dataset, Source(options));
  return internal::PackSourceOf(std::move(dataset), Options::kName,
                                FormatOptions(OptionsOf<Options>(), &options));
}

}  // namespace stoker
