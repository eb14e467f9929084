#include "stoker/data/learn/training_requests.h"

#include "stoker/base/testing.h"
#include "stoker/data/learn/requests.h"

namespace stoker::training_requests_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kStages =
    "[csv: a.csv, {split: {side: train}}, shuffle, decode, normalize: auto, {lookup: {values: "
    "auto, field: kind}}, batch: 2, prefetch]";

// The list with the entries that `train` asks for, one a line.
std::string Listed(const std::string& train, const std::string& stages = kStages) {
  const ConfigNode recipe = *ParseYaml("train: " + train, "r.yaml");
  std::string text;
  for (const ConfigNode& item : WithTrainingRequests(recipe, *ParseYaml(stages, "list")).items)
    text += ToYamlLine(item) + "\n";
  return text;
}

TEST(TrainingRequests, StandBeforeTheBatchAndBeforeStagesThatLeaveTheTargetAlone) {
  EXPECT_THAT(Listed("{target: {price: {normalize: auto}}}"),
              HasSubstr("field: kind}}\n{train.target: {field: \"price\"}}\n{batch: 2}\n"));
  EXPECT_THAT(Listed("{target: {price: {normalize: auto, log: true}}}", "[csv, decode, batch]"),
              HasSubstr("csv\n{train.target.log: {field: \"price\"}}\ndecode\n"));
  EXPECT_THAT(Listed("{loss: {focal: {weights: balanced}}}", "[csv, {cast: {field: label}}]"),
              HasSubstr("cast: {field: label}}\n{train.loss: {field: \"label\"}}\n"));
}

TEST(TrainingRequests, AreNoneWhereNothingIsAsked) {
  for (const char* const train :
       {"{target: price}", "{target: {price: {log: true}}}",
        "{target: {price: {normalize: \"auto\"}}}",
        "{target: {price: {normalize: {mean: 1, std: 2}}}}", "{loss: cross_entropy}",
        "{loss: {cross_entropy: {weights: [1, 2]}}}", "{target: {a: {normalize: auto}, b: {}}}"}) {
    EXPECT_EQ(Listed(train), Listed("{}")) << train;
  }
}

TEST(TrainingRequests, AreFoundWithTheStages) {
  const ConfigNode recipe = *ParseYaml("train: {target: {y: {normalize: auto}}}", "r.yaml");
  const std::vector<LearnRequest> requests =
      FindLearnRequests(WithTrainingRequests(recipe, *ParseYaml(kStages, "list")));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[2].stage, kTargetRequest);
  EXPECT_EQ(requests[2].field, "y");
  EXPECT_EQ(requests[2].option, "normalize");
  EXPECT_EQ(requests[2].place, 6u);
}

TEST(TrainingRequests, TheTargetHasItsNameWithAndWithoutOptions) {
  EXPECT_EQ(TargetOf(*ParseYaml("train: {target: price}", "r.yaml")), "price");
  EXPECT_EQ(TargetOf(*ParseYaml("train: {target: {price: {log: true}}}", "r.yaml")), "price");
  EXPECT_EQ(TargetOf(*ParseYaml("train: {epochs: 3}", "r.yaml")), "label");
  EXPECT_EQ(TargetOf(*ParseYaml("model: linear", "r.yaml")), "label");
}

}  // namespace stoker::training_requests_test
