#include "stoker/data/learn/learner.h"

#include "stoker/data/learn/training_requests.h"
#include "stoker/data/transforms/bucketize.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/words.h"

namespace stoker {
namespace {

struct LearnerRow {
  std::string_view name;
  Result<std::unique_ptr<StageLearner>> (*make)(const LearnerInput& input);
  std::string_view to_try;  // of operators only
};

constexpr LearnerRow kLearners[] = {{Normalize::kName, MakeMomentsLearner, "0"},
                                    {Lookup::kName, MakeTextsLearner, "word"},
                                    {Words::kName, MakeTokensLearner, "word"},
                                    {Bucketize::kName, MakeQuantilesLearner, "0"},
                                    {kTargetRequest, MakeTargetLearner, ""},
                                    {kLogTargetRequest, MakeLogTargetLearner, ""},
                                    {kClassWeightsRequest, MakeClassWeightsLearner, ""}};

}  // namespace

Result<std::unique_ptr<StageLearner>> MakeLearner(const std::string& operator_name,
                                                  const LearnerInput& input) {
  for (const LearnerRow& row : kLearners) {
    if (row.name == operator_name) return row.make(input);
  }
  return Unimplemented("{} learns nothing; give its options values", operator_name);
}

ConfigNode OptionsToTry(const std::string& operator_name) {
  for (const LearnerRow& row : kLearners) {
    if (row.name == operator_name) return ConfigNode::Scalar(std::string(row.to_try));
  }
  return {};
}

}  // namespace stoker
