#include "stoker/data/transforms/input_mask.h"

#include <numeric>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/transforms.h"

namespace stoker::input_mask_test {

// One sample of tokens 1000, 1001, ...
Dataset Tokens(int64_t n) {
  Array tokens = Array::Allocate(DType::kInt64, {1, n});
  std::iota(tokens.values<int64_t>().begin(), tokens.values<int64_t>().end(), 1000);
  return *FromArrays({{"tokens", tokens}});
}

Element Masked(const Dataset& dataset, const InputMask& options) {
  return ReadAll(*(dataset | options), Runtime::Threaded(1), {.seed = 3})->front();
}

TEST(InputMask, HidesWhatItsMaskSaysAndNothingElse) {
  const Element element = Masked(Tokens(20'000), {.field = "tokens", .value = 7});
  int chosen = 0;
  for (size_t i = 0; i < 20'000; ++i) {
    const bool masked = element.arrays[1].values<bool>()[i];
    EXPECT_EQ(element.arrays[0].values<int64_t>()[i], masked ? 7 : 1000 + static_cast<int64_t>(i));
    chosen += masked ? 1 : 0;
  }
  EXPECT_NEAR(chosen, 3000, 300);  // six standard deviations
}

TEST(InputMask, LeavesSharesOfWhatIsChosenOrMakesItRandom) {
  const Element element = Masked(Tokens(50'000), {.field = "tokens",
                                                  .probability = 0.5,
                                                  .value = 999,
                                                  .unchanged = 0.2,
                                                  .random = 0.3,
                                                  .vocabulary = 500,
                                                  .target = "original"});
  int hidden = 0, unchanged = 0, random = 0;
  for (size_t i = 0; i < 50'000; ++i) {
    const int64_t before = 1000 + static_cast<int64_t>(i);
    const int64_t now = element.arrays[0].values<int64_t>()[i];
    EXPECT_EQ(element.arrays[2].values<int64_t>()[i], before);
    if (!element.arrays[1].values<bool>()[i]) {
      EXPECT_EQ(now, before);
    } else if (now == 999) {
      ++hidden;
    } else if (now == before) {
      ++unchanged;
    } else {
      EXPECT_LT(now, 500);
      ++random;
    }
  }
  EXPECT_NEAR(hidden, 12'500, 700);
  EXPECT_NEAR(unchanged, 5'000, 450);
  EXPECT_NEAR(random, 7'500, 550);
}

TEST(InputMask, HidesWholeRows) {
  const Dataset frames = *FromArrays(
      {{"frames", Array::Of(std::span<const float>(std::vector<float>(600, 1.5f)), {1, 200, 3})}});
  const Element element =
      Masked(frames, {.field = "frames", .probability = 0.4, .value = -1, .unit = "row"});
  EXPECT_EQ(element.arrays[1].ToString(), "bool[200]");
  int chosen = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const bool masked = element.arrays[1].values<bool>()[static_cast<size_t>(i)];
    EXPECT_THAT(element.arrays[0].Row(i).values<float>(), testing::Each(masked ? -1.0f : 1.5f));
    chosen += masked ? 1 : 0;
  }
  EXPECT_NEAR(chosen, 80, 42);
}

// What is drawn for a row does not depend on how wide it is.
TEST(InputMask, MasksRowsWithoutValues) {
  const InputMask by_row{.field = "frames", .probability = 0.5, .unit = "row"};
  const auto masks = [&](int64_t width) {
    const Dataset frames =
        *FromArrays({{"frames", Array::Allocate(DType::kFloat32, {6, 40, width})}});
    std::vector<bool> chosen;
    for (const Result<Dataset>& dataset : {frames | by_row, frames | by_row | Batch{.size = 6},
                                           frames | Batch{.size = 1} | by_row}) {
      for (const Element& element : *ReadAll(*dataset, Runtime::Threaded(1), {.seed = 3})) {
        const auto values = element.arrays[1].values<bool>();
        chosen.insert(chosen.end(), values.begin(), values.end());
      }
    }
    return chosen;
  };
  EXPECT_EQ(masks(0), masks(1));
}

TEST(InputMask, DescribesTheFieldsThatItAdds) {
  const Dataset input = EmptyDataset({{{"frames", DType::kFloat32, {-1, 80}}}});
  EXPECT_EQ(
      (input | InputMask{.field = "frames", .unit = "row", .target = "clean"})->spec().ToString(),
      "{frames: float32[?, 80], frames_mask: bool[?], clean: float32[?, 80]}");
  EXPECT_EQ((input | InputMask{.field = "frames"})->spec().fields[1].ToString(),
            "frames_mask: bool[?, 80]");
}

TEST(InputMask, DrawsAnewEachEpochAndIndependentlyOfTheOrder) {
  const Result<Dataset> plain = NumberedImages(20) | InputMask{.probability = 0.5};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, ReadAll(*plain, Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto second,
                              ReadAll(*plain, Runtime::Inline(), {.seed = 0, .epoch = 1}));
  EXPECT_FALSE(SameBytes(first[3].arrays[2], second[3].arrays[2]));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto shuffled,
                              ReadAll(*(plain | Shuffle{}), Runtime::Inline()));
  for (const Element& element : shuffled) {
    EXPECT_TRUE(
        SameBytes(element.arrays[2], first[static_cast<size_t>(element.key.index)].arrays[2]));
  }
}

TEST(InputMask, KeepsThePromisesOfAPipeline) {
  const InputMask by_value{.probability = 0.3, .random = 0.5, .vocabulary = 256, .target = "clean"};
  const InputMask by_row{.probability = 0.5, .unit = "row"};
  for (const InputMask& mask : {by_value, by_row}) {
    ExpectKeepsItsPromises(*(NumberedImages(20) | Shuffle{} | mask | Batch{.size = 3}));
    ExpectKeepsItsPromises(*(StreamedImages(20) | mask));
  }
}

TEST(InputMask, RefusesWhatMakesNoSense) {
  const auto expect = [](const InputMask& options, const char* says) {
    EXPECT_THAT(NumberedImages(3) | options, FailsWith(StatusCode::kInvalidArgument, says));
  };
  expect({.probability = 1.5}, "probability is 1.5");
  expect({.value = 300}, "input_mask: value is 300, which uint8 of field 'image' cannot hold");
  expect({.unchanged = 0.6, .random = 0.6, .vocabulary = 9}, "come to 1 at most");
  expect({.random = 0.1}, "vocabulary is 0");
  expect({.random = 0.1, .vocabulary = 1000}, "the last token of the vocabulary is 999");
  expect({.field = "label", .unit = "row"}, "is a scalar and has no rows");
  expect({.field = "nothing"}, "there is no field 'nothing'");
  expect({.unit = "token"}, "unit");
  expect({.target = "label"}, "it adds a field 'label'");
  EXPECT_THAT((EmptyDataset({{{"image", DType::kFloat32, {3}}}}) |
               InputMask{.random = 0.1, .vocabulary = 9}),
              FailsWith(StatusCode::kInvalidArgument, "only integers are drawn"));
}

}  // namespace stoker::input_mask_test
