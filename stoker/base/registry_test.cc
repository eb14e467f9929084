#include "stoker/base/registry.h"

#include "stoker/base/testing.h"

namespace stoker::registry_test {

using testing::HasSubstr;

const std::vector<std::string> kNames = {"adamw", "sgd"};

TEST(SplitNamedOptions, TakesANameWithOrWithoutOptions) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode bare, ParseYaml("adamw", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const NamedOptions named,
                              SplitNamedOptions(bare, "optimizer", kNames));
  EXPECT_EQ(named.name, "adamw");
  EXPECT_EQ(named.options.kind, ConfigNode::Kind::kNull);

  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode full, ParseYaml("sgd: {momentum: 0.9}", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const NamedOptions with_options,
                              SplitNamedOptions(full, "optimizer", kNames));
  EXPECT_EQ(with_options.name, "sgd");
  EXPECT_NE(with_options.options.Find("momentum"), nullptr);
}

TEST(SplitNamedOptions, NamesTheNearestNameOfAnUnknownOne) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode node, ParseYaml("adam", "r.yaml"));
  EXPECT_THAT(SplitNamedOptions(node, "optimizer", kNames),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:1:1: unknown optimizer 'adam'; did you mean 'adamw'?"));
}

TEST(SplitNamedOptions, OfManyNamesTheLikelyOnesAreTold) {
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back(fmt::format("stage_{}", i));
  names.emplace_back("center_crop");
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode node, ParseYaml("crop", "r.yaml"));
  const Status status = SplitNamedOptions(node, "operator", names).status();
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("known are center_crop, stage_0, "),
                             HasSubstr(" and 45 more; `stoker inspect --ops` lists all")));
}

TEST(SplitNamedOptions, BlamesTheAssignmentThatAddedASecondName) {
  STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode recipe, ParseYaml("optimizer: {adamw: {}}", "r.yaml"));
  STOKER_ASSERT_OK(SetByPath(recipe, "optimizer.sgd.momentum=0.5"));
  const auto split = SplitNamedOptions(*recipe.Find("optimizer"), "optimizer", kNames);
  EXPECT_THAT(split, FailsWith(StatusCode::kInvalidArgument,
                               "--set optimizer.sgd.momentum: 'sgd' would stand beside 'adamw'"));
  EXPECT_THAT(std::string(split.status().message()), HasSubstr("r.yaml:1:13"));
}

TEST(SplitNamedOptions, AsksAboutIndentationWhereAFileNamesTwo) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode node, ParseYaml("sgd: \nmomentum: 1", "r.yaml"));
  EXPECT_THAT(SplitNamedOptions(node, "optimizer", kNames),
              FailsWith(StatusCode::kInvalidArgument, "'sgd' and 'momentum'"));
}

}  // namespace stoker::registry_test
