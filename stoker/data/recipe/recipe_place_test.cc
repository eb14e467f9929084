#include "stoker/data/recipe/recipe_place.h"

#include <gmock/gmock.h>

#include "stoker/base/problems.h"
#include "stoker/base/testing.h"

namespace stoker::recipe_place_test {

constexpr const char* kRecipe = R"(data:
  root: somewhere
  train:
    - range: 10
train:
  input: picture
  checkpoint:
    best: f1
)";

class RecipePlace : public testing::Test {
 protected:
  std::string Placed(const std::string& message) {
    return WithPlace(recipe_, InvalidArgument("{}", message)).message();
  }
  ConfigNode recipe_ = *ParseYaml(kRecipe, "r.yaml");
};

TEST_F(RecipePlace, IsThatOfTheKeyThatAMessageNames) {
  EXPECT_EQ(Placed("train.input: odd"), "r.yaml:6:10: train.input: odd");
  EXPECT_EQ(Placed("reading (train.checkpoint.best): odd"),
            "r.yaml:8:11: reading (train.checkpoint.best): odd");
  EXPECT_EQ(Placed("data.train gives no batch"), "r.yaml:3:3: data.train gives no batch");
}

TEST_F(RecipePlace, IsThatOfTheSectionWhereTheKeyItselfIsNotWritten) {
  EXPECT_EQ(Placed("train.target: odd"), "r.yaml:5:1: train.target: odd");
  EXPECT_EQ(Placed("train.checkpoint.keep: odd"), "r.yaml:7:3: train.checkpoint.keep: odd");
}

TEST_F(RecipePlace, IsNotGivenToWhatHasOneAndToWhatIsNoKey) {
  for (const char* message :
       {"/home/data.train.npy: damaged", "/home/my train.csv: damaged", "constrain.input",
        "old-data.root", "full disk", "r.yaml:1:1: train.input: odd", "--set train.input: odd",
        "model.mlp is not there"}) {
    EXPECT_EQ(Placed(message), message);
  }
  STOKER_EXPECT_OK(WithPlace(recipe_, OkStatus()));
  // A recipe made in C++ has no lines.
  EXPECT_EQ(WithPlace(ConfigNode(), InvalidArgument("train.input")).message(), "train.input");
}

TEST_F(RecipePlace, IsGivenToEachOfSeveralProblems) {
  Problems problems;
  problems.Add(InvalidArgument("train.input: odd"));
  problems.Add(InvalidArgument("r.yaml:1:1: wrong"));
  problems.Add(InvalidArgument("data.root: odd"));
  EXPECT_THAT(ProblemsIn(WithPlace(recipe_, problems.ToStatus())),
              testing::ElementsAre("r.yaml:6:10: train.input: odd", "r.yaml:1:1: wrong",
                                   "r.yaml:2:9: data.root: odd"));
}

}  // namespace stoker::recipe_place_test
