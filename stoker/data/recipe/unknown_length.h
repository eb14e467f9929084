// Why nobody knows how many elements a pipeline gives, for messages.
#pragma once

#include <string>

#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// What a pipeline has that keeps its length from being known, and what would change that.
struct UnknownLength {
  // "recipe.yaml:4:7: csv reads 'http://host/a.csv' in order, since it is on a server"; without a
  // place where the stage stands nowhere.
  std::string why;
  // A change of that stage after which the length is known, as a clause: "`index: memory` in csv
  // fetches the files first and counts them"; empty if there is none.
  std::string advice;
};

// Of a pipeline whose cardinality() is unknown.
//   filled  its list with every option filled in, as BuildPipeline gives it; may be null
// Where a file's compression has to be told its first bytes are read; what cannot be read is not
// spoken of.
UnknownLength ExplainUnknownLength(const Dataset& dataset, const ConfigNode* filled);

}  // namespace stoker
