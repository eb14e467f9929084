// StageLearner: what one stage learns from the field that it works on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// What is to be learned of one field, and from which stage.
struct LearnerInput {
  ConfigNode
      options;  // of the stage, every one filled in, those that are learned at their defaults
  Field field;  // as the stage gets it
};

// Reduce is called on the threads of the engine, several at once; the rest on one thread, in the
// order of the elements. So equal elements give equal bytes, whatever the threads.
class StageLearner {
 public:
  virtual ~StageLearner() = default;

  // Returns what is kept of the field on its way from the threads: by default the field itself.
  // Learners of large fields reduce each value where it is made.
  virtual Field Kept(const Field& field) const { return field; }
  virtual Status Reduce(Array& /*value*/, Scratch& /*scratch*/) const { return OkStatus(); }

  // Adds what was kept of the next samples: `kept` holds `samples` of them, the first being number
  // `first` of the training side. Errors, without the stage: values of which nothing can be
  // learned, and kResourceExhausted beyond the budget.
  virtual Status Add(const Array& kept, int64_t samples, int64_t first) = 0;

  // Returns the memory that was allocated for what is learned, in bytes.
  virtual int64_t bytes() const = 0;

  // Ends: sets the options that the stage gets, and facts for people. Errors: nothing can be
  // learned, such as of a column without any number. Logs what is doubtful.
  //   who  what messages begin with: "recipe.yaml:7:5: normalize: field 'x'"
  virtual Status Finish(const std::string& who, Json& options, Json& facts) = 0;
};

// Returns the learner for a stage of `operator_name`, or for what `train` learns
// (training_requests.h). Errors: kInvalidArgument for a field of which it cannot learn;
// kUnimplemented for an operator without one.
Result<std::unique_ptr<StageLearner>> MakeLearner(const std::string& operator_name,
                                                  const LearnerInput& input);

// Returns the options, in YAML, with which the operator is built over an input before anything is
// learned, so that what is wrong with the field is said by the operator itself.
ConfigNode OptionsToTry(const std::string& operator_name);

// The learners by operator, or by what `train` learns.
Result<std::unique_ptr<StageLearner>> MakeMomentsLearner(const LearnerInput& input);    // normalize
Result<std::unique_ptr<StageLearner>> MakeTextsLearner(const LearnerInput& input);      // lookup
Result<std::unique_ptr<StageLearner>> MakeTokensLearner(const LearnerInput& input);     // words
Result<std::unique_ptr<StageLearner>> MakeQuantilesLearner(const LearnerInput& input);  // bucketize
// Those of training.
Result<std::unique_ptr<StageLearner>> MakeTargetLearner(const LearnerInput& input);
Result<std::unique_ptr<StageLearner>> MakeLogTargetLearner(const LearnerInput& input);
Result<std::unique_ptr<StageLearner>> MakeClassWeightsLearner(const LearnerInput& input);

}  // namespace stoker
