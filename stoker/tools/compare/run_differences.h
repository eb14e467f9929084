// What differs between two runs beside their figures.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/tools/compare/run_record.h"

namespace stoker {

struct RecipeDifference {
  std::string change;   // "train.epochs: 3 -> 5", as Differences of base/config.h writes it
  int line_before = 0;  // in the recipe.yaml of the run; 0: the value is not there
  int line_after = 0;
};

// A list of differences, or why they are unknown.
struct DifferenceList {
  std::vector<std::string> differences;
  std::string unknown;  // empty if they are known

  Json ToJson() const;  // the list, or null
};

struct RunDifferences {
  std::vector<RecipeDifference> recipe;
  DifferenceList code;  // versions and builds
  DifferenceList machine;
  DifferenceList choices;  // of the tuner
  DifferenceList data;     // of the files: their number, names, sizes and content

  Json ToJson() const;
};

RunDifferences FindDifferences(const RunRecord& before, const RunRecord& after);

// Returns, for each pipeline ("train", "eval"), the number of files and a fingerprint of their
// names and marks, which is the same for the same files wherever they stand and whenever they were
// written. Null for what are no marks.
Json DataFingerprints(const Json& marks);

}  // namespace stoker
