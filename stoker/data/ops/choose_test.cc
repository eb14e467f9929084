#include "stoker/data/ops/choose.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/testing/combining.h"

namespace stoker::choose_test {

using testing::ElementsAre;

Dataset Choices(const std::vector<int64_t>& numbers) {
  return *FromArrays({{"choice", Array::Of(numbers)}});
}

TEST(Choose, FollowsItsPatternUntilAnInputThatIsChosenHasEnded) {
  for (const Dataset& second : {Numbers(2, 10), StreamedNumbers(2, 10)}) {
    EXPECT_THAT(ValuesOf(Source(Choose{.inputs = {Numbers(9), second}, .pattern = {0, 0, 1}})),
                ElementsAre(0, 1, 10, 2, 3, 11, 4, 5));
  }
}

TEST(Choose, PassesOverWhatHasEndedWhereItIsToGoOn) {
  for (const Dataset& second : {Numbers(2, 10), StreamedNumbers(2, 10)}) {
    EXPECT_THAT(ValuesOf(Source(Choose{.inputs = {Numbers(3), second, Numbers(6, 20)},
                                       .pattern = {2, 0, 1, 1},
                                       .stop = "all_exhausted"})),
                ElementsAre(20, 0, 10, 11, 21, 1, 22, 2, 23, 24, 25));
  }
}

TEST(Choose, FollowsAPipelineOfChoices) {
  const std::vector<Result<Dataset>> all_choices = {Choices({1, 1, 0, 2, 1, 0}),
                                                    Choices({1, 1, 0, 2, 1, 0}) | Take{.count = 6}};
  for (const Result<Dataset>& choices : all_choices) {
    EXPECT_THAT(
        ValuesOf(Source(Choose{.inputs = {Numbers(9), Numbers(9, 10), StreamedNumbers(9, 20)},
                               .choices = choices})),
        ElementsAre(10, 11, 0, 20, 12, 1));
  }
}

TEST(Choose, KeepsItsPromises) {
  for (const char* stop : {"first_exhausted", "all_exhausted"}) {
    SCOPED_TRACE(stop);
    ExpectKeepsItsPromises(Source(Choose{.inputs = {Numbers(9) | AddMillions(), Numbers(5, 10)},
                                         .pattern = {1, 0, 0, 1, 1},
                                         .stop = stop}) |
                           AddMillions() | Batch{.size = 2});
    ExpectKeepsItsPromises(
        Source(Choose{
            .inputs = {StreamedNumbers(4), Numbers(7, 10)}, .pattern = {1, 0}, .stop = stop}) |
        AddMillions());
    ExpectKeepsItsPromises(Source(Choose{.inputs = {StreamedNumbers(4), Numbers(7, 10)},
                                         .choices = Choices({1, 0, 1, 0, 0, 0, 0, 1, 1, 0}),
                                         .stop = stop}));
  }
  ExpectKeepsItsPromises(
      Source(Choose{.inputs = {Numbers(4) | Repeat{}, Numbers(7)}, .pattern = {0, 1}}));
}

TEST(Choose, RefusesChoicesThatNameNoInput) {
  EXPECT_THAT(Source(Choose{.inputs = {Numbers(3), Numbers(3)}, .pattern = {0, 2}}),
              FailsWith(StatusCode::kInvalidArgument, "has 2 among its numbers"));
  EXPECT_THAT(Source(Choose{.inputs = {Numbers(3), Numbers(3)}, .pattern = {1}}),
              FailsWith(StatusCode::kInvalidArgument, "never names input 0"));
  EXPECT_THAT(Source(Choose{.inputs = {Numbers(3)}}),
              FailsWith(StatusCode::kInvalidArgument, "either a pattern"));
  EXPECT_THAT(Source(Choose{.inputs = {Numbers(3)}, .choices = NumberedImages(3)}),
              FailsWith(StatusCode::kInvalidArgument, "must be one uint8, int32 or int64"));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Choose{.inputs = {Numbers(3), Numbers(3)}, .choices = Choices({0, 1, -1})}));
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
              FailsWith(StatusCode::kOutOfRange, "element 2 of the choices is -1"));
}

TEST(Choose, IsReadFromRecipes) {
  ConfigNode filled;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      FromRecipe("- choose: {inputs: [[range: 5], [range: {stop: 20, start: 10}]], choices: "
                 "[range: 2]}\n",
                 &filled));
  EXPECT_THAT(ValuesOf(dataset), ElementsAre(0, 10));
  EXPECT_THAT(FromRecipe(ToYaml(filled)), IsOk());
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset by_pattern,
      FromRecipe("- choose: {inputs: [[range: 2], [range: 3]], pattern: [0, 1]}\n", &filled));
  EXPECT_THAT(ValuesOf(by_pattern), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(FromRecipe(ToYaml(filled)), IsOk());
}

}  // namespace stoker::choose_test
