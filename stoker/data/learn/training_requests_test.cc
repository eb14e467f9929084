#include "stoker/data/learn/training_requests.h"

#include "stoker/base/testing.h"
#include "stoker/data/learn/requests.h"

namespace stoker::training_requests_test {

using testing::HasSubstr;

constexpr const char* kStages =
    "[csv: a.csv, {split: {side: train}}, shuffle, decode, normalize: auto, "
    "{lookup: {values: auto, field: kind}}, batch: 2, prefetch]";

// The list with an entry for the request, one item a line.
std::string Listed(std::string_view stage, const std::string& field,
                   const std::string& stages = kStages) {
  const TrainingRequest request{.stage = stage, .field = field, .place = {}};
  std::string text;
  for (const ConfigNode& item :
       WithTrainingRequests(std::span(&request, 1), *ParseYaml(stages, "list")).items)
    text += ToYamlLine(item) + "\n";
  return text;
}

TEST(TrainingRequests, StandBeforeTheBatchAndBeforeStagesThatLeaveTheTargetAlone) {
  EXPECT_THAT(Listed(kTargetRequest, "price"),
              HasSubstr("field: kind}}\n{train.target: {field: \"price\"}}\n{batch: 2}\n"));
  EXPECT_THAT(Listed(kLogTargetRequest, "price", "[csv, decode, batch]"),
              HasSubstr("csv\n{train.target.log: {field: \"price\"}}\ndecode\n"));
  EXPECT_THAT(Listed(kClassWeightsRequest, "label", "[csv, {cast: {field: label}}]"),
              HasSubstr("cast: {field: label}}\n{train.loss: {field: \"label\"}}\n"));
}

TEST(TrainingRequests, AreFoundWithTheStages) {
  const TrainingRequest request{.stage = kTargetRequest, .field = "y", .place = {}};
  const std::vector<LearnRequest> requests =
      FindLearnRequests(WithTrainingRequests(std::span(&request, 1), *ParseYaml(kStages, "list")));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[2].stage, kTargetRequest);
  EXPECT_EQ(requests[2].field, "y");
  EXPECT_EQ(requests[2].option, "normalize");
  EXPECT_EQ(requests[2].place, 6u);
}

TEST(TrainingRequests, TargetsHaveTheirNamesWithAndWithoutOptions) {
  using Names = std::vector<std::string>;
  const auto targets = [](const char* recipe) { return TargetsOf(*ParseYaml(recipe, "r.yaml")); };
  EXPECT_EQ(targets("train: {target: price}"), Names{"price"});
  EXPECT_EQ(targets("train: {target: {price: {log: true}}}"), Names{"price"});
  EXPECT_EQ(targets("train: {target: {price: {log: true}, cut: {}}}"), (Names{"price", "cut"}));
  EXPECT_EQ(targets("train: {epochs: 3}"), Names{"label"});
  EXPECT_EQ(targets("model: linear"), Names{"label"});
}

}  // namespace stoker::training_requests_test
