#include "stoker/data/options/pipelines.h"

#include "stoker/data/ops/take.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/testing/combining.h"

namespace stoker::pipelines_test {

TEST(Pipelines, ErrorsOfNestedPipelinesGiveTheirOwnLineAndColumn) {
  const std::pair<const char*, const char*> kCases[] = {
      {"- zip:\n    - [range: 10]\n    - [rnge: 10]\n",
       "r.yaml:3:8: zip.inputs: unknown operator 'rnge'; did you mean 'range'?"},
      {"- zip:\n    - [range: 10]\n    - [range: {stop: 3, stp: 1}]\n",
       "r.yaml:3:25: zip.inputs: range: unknown option 'stp'"},
      {"- zip:\n    - [range: 10]\n    - [range: {stop: x}]\n",
       "r.yaml:3:22: zip.inputs: range.stop: 'x'"},
      {"- zip:\n    - [range: 10]\n    - [batch: 2]\n", "r.yaml:3:8: batch: there is nothing"},
      {"- zip: [[range: 10], {range: 3}]\n", "r.yaml:1:22: zip.inputs: a pipeline is a list"},
      {"- zip: [[range: 10], []]\n", "r.yaml:1:22: zip.inputs: a pipeline is a list"},
      {"- zip: 5\n", "a number is not a list of pipelines"},
      {"- zip: []\n", "zip: no pipelines are given"},
      {"- zip\n", "zip: option 'inputs' is required"},
      {"- zip: [[zip: [[range: 3], [range: -1, bath: 2]]]]\n",
       "r.yaml:1:40: zip.inputs: zip.inputs: unknown operator"},
  };
  for (const auto& [yaml, says] : kCases) {
    const Status status = FromRecipe(yaml).status();
    EXPECT_THAT(status, FailsWith(StatusCode::kInvalidArgument, says)) << yaml;
    EXPECT_THAT(status.message(), testing::StartsWith("r.yaml:")) << yaml;
  }
}

TEST(Pipelines, FillInTheDefaultsOfNestedPipelinesAndReadThemBack) {
  ConfigNode filled;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      FromRecipe(
          "- zip: [[range: 10, batch: {size: 2}], [range: {stop: 8, field: y}]]\n- take: 3\n",
          &filled));
  const std::string yaml = ToYaml(filled);
  EXPECT_THAT(yaml, testing::HasSubstr("drop_remainder: false"));
  EXPECT_THAT(yaml, testing::HasSubstr("strict: false"));
  ConfigNode again;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset same, FromRecipe(yaml, &again));
  EXPECT_THAT(Differences(filled, again), testing::IsEmpty());
  EXPECT_EQ(same.ToString(), dataset.ToString());
}

TEST(Pipelines, AnErrorOfAPipelineMadeInCppNamesItsNumber) {
  EXPECT_THAT(Source(Zip{.inputs = {Numbers(3), InvalidArgument("it broke")}}),
              FailsWith(StatusCode::kInvalidArgument, "zip: pipeline 1: it broke"));
}

TEST(Pipelines, AreSetByPath) {
  STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode recipe,
                              ParseYaml("p:\n  - zip: {inputs: [[range: 10]]}\n", "r.yaml"));
  STOKER_ASSERT_OK(SetByPath(recipe, "p.zip.inputs.0.range=4"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(*recipe.Find("p"), "/"));
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(4));
}

TEST(Pipelines, AreRefusedWhereMoreThanAThousandStagesFollowEachOther) {
  std::string yaml = "- range: 10\n";
  for (int stage = 2; stage <= kMaxPipelineDepth; ++stage) yaml += "- take: 5\n";
  STOKER_EXPECT_OK(FromRecipe(yaml));
  EXPECT_THAT(FromRecipe(yaml + "- take: 5\n- take: 5\n"),
              FailsWith(StatusCode::kInvalidArgument, "r.yaml:1001:3: take: 1001 stages would"));
  // Those that C++ adds count too.
  EXPECT_THAT(FromRecipe(yaml) | Take{.count = 5},
              FailsWith(StatusCode::kInvalidArgument, "at most 1000"));
}

}  // namespace stoker::pipelines_test
