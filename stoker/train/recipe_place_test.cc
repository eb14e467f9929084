#include "stoker/train/recipe_place.h"

#include "stoker/train/testing.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

TEST(WithPlace, NamesTheLineOfTheKeyThatTheMessageIsAbout) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load());
  const auto placed = [&](const std::string& message) {
    return WithPlace(recipe.train, InvalidArgument("{}", message)).message();
  };
  EXPECT_THAT(placed("train.device: there is none"),
              testing::EndsWith("small.yaml:18:11: train.device: there is none"));
  EXPECT_THAT(placed("this does not fit train.log_every"),
              testing::EndsWith("small.yaml:20:14: this does not fit train.log_every"));
  // Neither what was not written nor what is not of this section has a place.
  for (const char* message : {"train.seed: odd", "data.train.device: odd", "constrain.device"}) {
    EXPECT_EQ(placed(message), message);
  }
  const std::string twice = placed("train.device: odd");
  EXPECT_EQ(placed(twice), twice);
  STOKER_EXPECT_OK(WithPlace(recipe.train, OkStatus()));
}

TEST(WithPlace, ARunThatCannotBeginSaysWhereTheReasonStands) {
  const SmallProblem problem;
  WriteFileForTest(problem / "wrong.yaml",
                   ReadFileForTest(problem / "small.yaml") + "  input: picture\n");
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, LoadRecipe(problem / "wrong.yaml"));
  EXPECT_THAT(Trainer::Create(std::move(recipe), problem / "run"),
              FailsWith(StatusCode::kInvalidArgument, "wrong.yaml:22:10: "));
}

}  // namespace
}  // namespace stoker
