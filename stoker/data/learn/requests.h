// Finds the stages of a pipeline whose options are to be learned from its training data, and fills
// these options in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/learn/learned.h"

namespace stoker {

// A stage whose option is `auto`: normalize: auto, lookup: {values: auto, field: cut}; or an entry
// for what the section `train` learns (training_requests.h).
struct LearnRequest {
  size_t place = 0;    // among the stages of the pipeline
  std::string stage;   // the operator
  std::string option;  // that is auto, the first of OperatorRegistry::LearnedOptions
  std::string field;
  std::string output;  // the field that the stage makes of it, if it has an option of that name
  int64_t which = 1;   // the first, second, ... of this operator and field in the pipeline
};

// Returns the requests of a whole pipeline (options/whole_pipeline.h), in order. Stages that cannot
// be read have none; building the pipeline says what is wrong with them.
std::vector<LearnRequest> FindLearnRequests(const ConfigNode& list);

// Returns the stage that `value` makes of one that asks.
ConfigNode FilledStage(const ConfigNode& stage, const LearnRequest& request,
                       const LearnedValue& value);

// Returns the pipeline with what was learned in the place of `auto`; `learned` may be null if there
// are no requests. Errors: kInvalidArgument, with the place of the stage, if nothing was learned
// for it.
Result<ConfigNode> FillInLearned(const ConfigNode& list, const Learned* learned);

// Returns `filled`, which is made of `list` with FillInLearned and every option, with `auto` as
// `list` has it.
ConfigNode PutBackRequests(const ConfigNode& list, ConfigNode filled);

}  // namespace stoker
