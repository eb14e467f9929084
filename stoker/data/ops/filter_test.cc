#include "stoker/data/ops/filter.h"

#include <cmath>
#include <thread>

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::filter_test {

using testing::ElementsAre;

Filter OddLabels() {
  return {.predicate = [](const Element& element) {
    return element.arrays[1].values<int64_t>()[0] % 2 == 1;
  }};
}

std::vector<int64_t> LabelsLeft(const Result<Dataset>& dataset) {
  return Labels(*ReadAll(*dataset, Runtime::Threaded(2)));
}

TEST(Filter, KeepsWhatMeetsTheConditionsOnAField) {
  for (const Dataset& source : {NumberedImages(10), StreamedImages(10)}) {
    EXPECT_THAT(LabelsLeft(source | Filter{.equals = {3}}), ElementsAre(3));
    EXPECT_THAT(LabelsLeft(source | Filter{.equals = {8, 1, 77}}), ElementsAre(1, 8));
    EXPECT_THAT(LabelsLeft(source | Filter{.except = {0, 2, 3, 4, 5}}), ElementsAre(1, 6, 7, 8, 9));
    EXPECT_THAT(LabelsLeft(source | Filter{.min = 7}), ElementsAre(7, 8, 9));
    EXPECT_THAT(LabelsLeft(source | Filter{.max = 1.5}), ElementsAre(0, 1));
    EXPECT_THAT(LabelsLeft(source | Filter{.except = {5}, .min = 4, .max = 6}), ElementsAre(4, 6));
    EXPECT_TRUE(LabelsLeft(source | Filter{.min = 10}).empty());
  }
}

TEST(Filter, KeepsWhatAFunctionSaysAndAsksItOnlyWhereTheConditionsHold) {
  EXPECT_THAT(LabelsLeft(NumberedImages(8) | OddLabels()), ElementsAre(1, 3, 5, 7));
  Filter both = OddLabels();
  both.min = 4;
  EXPECT_THAT(LabelsLeft(NumberedImages(8) | both), ElementsAre(5, 7));
  std::atomic<int> asked = 0;
  both.predicate = [&](const Element&) {
    ++asked;
    return true;
  };
  EXPECT_THAT(LabelsLeft(NumberedImages(8) | both), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(asked, 4);
}

TEST(Filter, LeavesElementsAsTheyWere) {
  const Result<Dataset> dataset = NumberedImages(200) | Filter{.min = 150};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(NumberedImages(200), Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto kept, ReadAll(*dataset, Runtime::Threaded(2)));
  EXPECT_EQ(Fingerprint(kept), Fingerprint({all.begin() + 150, all.end()}));
  EXPECT_EQ(dataset->spec(), NumberedImages(200).spec());
}

TEST(Filter, ReadsNumbersOfEveryDType) {
  const std::vector<float> floats = {0.5f, -1, std::nanf(""), 7};
  const Dataset source = *FromArrays({{"x", Array::Of<float>(floats)},
                                      {"y", Array::Of<uint8_t>({1, 2, 3, 200})},
                                      {"label", Array::Of<int64_t>({0, 1, 2, 3})}});
  const auto left = [&](const Filter& filter) {
    return Labels(*ReadAll(*(source | filter), Runtime::Threaded(2)), 2);
  };
  EXPECT_THAT(left({.field = "x", .min = 0}), ElementsAre(0, 3));
  EXPECT_THAT(left({.field = "x", .max = 1}), ElementsAre(0, 1));          // NaN meets no bound
  EXPECT_THAT(left({.field = "x", .except = {7}}), ElementsAre(0, 1, 2));  // and equals nothing
  EXPECT_THAT(left({.field = "y", .equals = {200}}), ElementsAre(3));
}

TEST(Filter, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(23), StreamedImages(23)}) {
    ExpectKeepsItsPromises(*(source | OddLabels()));
    ExpectKeepsItsPromises(
        *(source | Filter{.except = {4, 7}} | Repeat{.count = 2} | Batch{.size = 4} | Prefetch{}));
  }
  ExpectKeepsItsPromises(*(NumberedImages(23) | Shuffle{} | OddLabels() | Batch{.size = 3}));
  ExpectKeepsItsPromises(*(NumberedImages(23) | OddLabels() | Shuffle{.buffer = 5}));
}

// Each answer waits until the other has been asked for, so one thread alone would not end.
TEST(Filter, AsksTheFunctionOnSeveralThreadsAtOnce) {
  std::atomic<int> inside = 0;
  std::atomic<bool> together = false;
  const Filter meet{.predicate = [&](const Element&) {
    ++inside;
    for (int waited = 0; waited < 5000 && !together; ++waited) {
      if (inside == 2) together = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    --inside;
    return true;
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator,
                              (NumberedImages(2000) | meet)->Open(Runtime::Threaded(2)));
  STOKER_ASSERT_OK(iterator->Next());
  EXPECT_TRUE(together);
}

TEST(Filter, SaysWhichElementAFunctionFailedOn) {
  const auto failing = [](auto fail) {
    return Filter{.predicate = [fail](const Element& element) -> Result<bool> {
      if (element.key.index == 5) return fail();
      return true;
    }};
  };
  const Filter throws = failing([]() -> Result<bool> { throw std::runtime_error("broke"); });
  const Filter returns = failing([]() -> Result<bool> { return DataLoss("no answer"); });
  for (const Dataset& source : {NumberedImages(9), StreamedImages(9)}) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, (source | throws)->Open(runtime));
      for (int i = 0; i < 5; ++i) STOKER_ASSERT_OK(iterator->Next());
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kInternal,
                                              "filter: element 5: the predicate threw: broke"));
      EXPECT_THAT(ReadAll(*(source | returns), runtime),
                  FailsWith(StatusCode::kDataLoss, "no answer"));
    }
  }
}

TEST(Filter, EndsWhenAskedToWhileItDropsForEver) {
  std::atomic<bool> stop = false;
  for (Runtime runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    runtime.stop = &stop;
    stop = false;
    const Result<Dataset> nothing = NumberedImages(10) | Repeat{} | Filter{.min = 100};
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, nothing->Open(runtime));
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      stop = true;
    });
    EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
  }
}

// What is read at once may be thousands of elements, and the predicate slow.
TEST(Filter, AsksThePredicateOfNoFurtherElementOnceItIsAskedToStop) {
  const std::vector<float> values(4000);
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset filtered,
                              FromArrays({{"value", Array::Of<float>(values, {4000})}}) |
                                  Filter{.predicate =
                                             [&](const Element&) {
                                               ++calls;
                                               stop = true;
                                               return true;
                                             }} |
                                  Batch{.size = 4000});
  const Runtime runtime{
      .kind = Runtime::Kind::kThreaded, .threads = 1, .chunk = 1000, .stop = &stop};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, filtered.Open(runtime));
  EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
  EXPECT_EQ(calls, 1);
}

TEST(Filter, RefusesConditionsThatMakeNoSense) {
  EXPECT_THAT((NumberedImages(3) | Filter{}),
              FailsWith(StatusCode::kInvalidArgument, "filter: there is no condition"));
  EXPECT_THAT((NumberedImages(3) | Filter{.min = 3, .max = 2}),
              FailsWith(StatusCode::kInvalidArgument, "min is 3, max is 2"));
  EXPECT_THAT((NumberedImages(3) | Filter{.field = "target", .equals = {1}}),
              FailsWith(StatusCode::kInvalidArgument, "there is no field 'target'"));
  EXPECT_THAT((NumberedImages(3) | Filter{.field = "image", .equals = {1}}),
              FailsWith(StatusCode::kInvalidArgument, "field 'image' has shape [1, 4, 4]"));
}

TEST(Filter, SaysThatItLeavesElementsOutAndThatItsCountIsUnknown) {
  const Result<Dataset> dataset = NumberedImages(5) | OddLabels();
  EXPECT_EQ(dataset->node().Disturbs(), "leaves elements out");
  EXPECT_EQ(dataset->cardinality(), Cardinality::Unknown());
  EXPECT_EQ((NumberedImages(0) | OddLabels())->cardinality(), Cardinality::Of(0));
  EXPECT_EQ(dataset->node().MemoryToRead(10), dataset->node().input().node().MemoryToRead(10));
}

TEST(Filter, SavesAPositionOfASmallSize) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, (NumberedImages(1000) | Shuffle{} | OddLabels() |
                                                    Batch{.size = 10} | Repeat{} | Prefetch{})
                                                       ->Open(Runtime::Threaded(2)));
  for (int i = 0; i < 77; ++i) STOKER_ASSERT_OK(iterator->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
  EXPECT_LT(state.dump().size(), 400u) << state;
}

}  // namespace stoker::filter_test
