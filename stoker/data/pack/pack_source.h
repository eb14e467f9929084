// What the user names, as a pipeline to pack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

struct PackSourceOptions {
  // Of a recipe only.
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

// The pipeline that `source` stands for:
//   a recipe (.yaml, .yml)            one of its pipelines, or the begin of it
//   a directory                       a folder for each class (`folder`): pictures as they are
//   .stoker or TFRecord files,        their records; a path, a pattern or shards ("x@128")
//   tar archives, LMDB databases
// Errors: kInvalidArgument for anything else, with the recipe line that reads it; for a pipeline
// that gives batches, with the number of stages to pack instead; those of the sources.
Result<PackSource> OpenPackSource(const std::string& source, const PackSourceOptions& options);

}  // namespace stoker
