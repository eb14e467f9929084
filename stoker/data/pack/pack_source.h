// A pipeline to pack, and its origin.
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
  std::optional<int64_t> stages;         // only this many entries of its list
  std::vector<std::string> assignments;  // `--set`
};

struct PackSource {
  Dataset dataset;
  std::vector<std::string> classes;  // what labels stand for; may be empty
  std::string settings;              // its description with all options, for PackOptions::settings
  std::vector<std::string> files =
      {};  // files that define it, beside those that the pipeline reads
};

// Returns one of the pipelines of a recipe, or its first stages. Errors: kInvalidArgument for a
// recipe without that pipeline, and for one that returns batches, with the number of stages to pack
// instead; those of the sources.
Result<PackSource> PackSourceOfRecipe(const std::string& path, const PackSourceOptions& options);

namespace internal {
PackSource PackSourceOf(Dataset dataset, std::string_view name, const ConfigNode& options);
}  // namespace internal

// Returns the elements of one source (data/sources), unchanged. Errors: those of the source.
template <typename Options>
Result<PackSource> PackSourceOf(const Options& options) {
  STOKER_ASSIGN_OR_RETURN(Dataset dataset, Source(options));
  return internal::PackSourceOf(std::move(dataset), Options::kName,
                                FormatOptions(OptionsOf<Options>(), &options));
}

}  // namespace stoker
