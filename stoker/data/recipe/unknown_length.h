// Explains why the number of a pipeline's elements is unknown, for messages.
#pragma once

#include <string>

#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The reason why a pipeline's length is unknown, and a remedy.
struct UnknownLength {
  // "recipe.yaml:4:7: csv reads 'http://host/a.csv' in order, since it is on a server"; without a
  // place if the stage is not in a file.
  std::string why;
  // A change of that stage after which the length is known, as a clause: "`index: memory` in csv
  // fetches the files first and counts them"; empty if there is none.
  std::string advice;
};

// Explains the length of a pipeline whose cardinality() is unknown.
//   filled  its list with every option filled in, as BuildPipeline gives it; may be null
// Reads the first bytes of files to detect their compression; ignores files that cannot be read.
UnknownLength ExplainUnknownLength(const Dataset& dataset, const ConfigNode* filled);

}  // namespace stoker
