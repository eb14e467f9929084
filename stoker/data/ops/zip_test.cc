#include "stoker/data/ops/zip.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "stoker/data/ops/balance.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/sample.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/testing/combining.h"

namespace stoker::zip_test {

using testing::ElementsAre;

TEST(Zip, PutsFieldsSideBySideAndEndsWithTheShortest) {
  for (const Dataset& second : {Numbers(3, 10, "y"), StreamedNumbers(3, 10, "y")}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Zip{.inputs = {Numbers(5), second}}));
    EXPECT_EQ(dataset.spec().ToString(), "{x: int64[], y: int64[]}");
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                                ReadAll(dataset, Runtime::Inline()));
    EXPECT_THAT(Labels(all, 0), ElementsAre(0, 1, 2));
    EXPECT_THAT(Labels(all, 1), ElementsAre(10, 11, 12));
    EXPECT_EQ(all[2].key, (SampleKey{0, 2}));
  }
}

TEST(Zip, IsReadByPositionWhereAllInputsAre) {
  EXPECT_TRUE(Source(Zip{.inputs = {Numbers(5), Numbers(3, 0, "y")}})->node().random_access());
  EXPECT_EQ(Source(Zip{.inputs = {Numbers(5), Numbers(3, 0, "y")}})->cardinality(),
            Cardinality::Of(3));
  EXPECT_FALSE(
      Source(Zip{.inputs = {Numbers(5), StreamedNumbers(3, 0, "y")}})->node().random_access());
  EXPECT_EQ(Source(Zip{.inputs = {Numbers(5) | Repeat{}, Numbers(3, 0, "y")}})->cardinality(),
            Cardinality::Of(3));
}

TEST(Zip, KeepsItsPromises) {
  const auto noisy = [](const Dataset& source) { return source | AddMillions(); };
  ExpectKeepsItsPromises(Source(Zip{.inputs = {noisy(Numbers(12)), noisy(Numbers(9, 5, "y"))}}));
  ExpectKeepsItsPromises(
      Source(Zip{.inputs = {noisy(Numbers(12)), noisy(StreamedNumbers(9, 5, "y"))}}));
  ExpectKeepsItsPromises(Source(Zip{.inputs = {StreamedNumbers(7), StreamedNumbers(9, 5, "y")}}) |
                         AddMillions());
  ExpectKeepsItsPromises(
      Source(Zip{.inputs = {Numbers(20) | Shuffle{}, Numbers(20, 0, "y") | Shuffle{}}}) |
      Batch{.size = 3});
}

// What balance learns in a pass of its own has to hold in the whole one, where other stages stand
// in front.
TEST(Zip, LeavesAnOrderOfItsOwnSeedAsItIsElsewhere) {
  std::vector<int64_t> classes(30);
  classes[3] = classes[17] = classes[22] = 1;
  const Result<Dataset> labels = *FromArrays({{"label", Array::Of(classes)}});
  const Result<Dataset> alone = labels | Shuffle{.seed = 1, .reshuffle = false};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset zipped,
                              Source(Zip{.inputs = {Numbers(30), *(alone | Balance{})}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(zipped, Runtime::Inline()));
  EXPECT_EQ(std::ranges::count(Labels(all, 1), 1), 15);

  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset behind, Source(Zip{.inputs = {Numbers(30), *alone}}));
  EXPECT_EQ(Labels(*ReadAll(behind, Runtime::Inline()), 1), ValuesOf(alone));
}

TEST(Zip, TwoInputsOfOneSeedStandInTheSameOrder) {
  const auto expect_same = [](const Result<Dataset>& a, const Result<Dataset>& b) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset zipped, Source(Zip{.inputs = {*a, *b}}));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(zipped, Runtime::Inline()));
    EXPECT_EQ(Labels(all, 0), Labels(all, 1)) << zipped.ToString();
  };
  const Shuffle exact{.seed = 1}, windows{.seed = 1, .window = 8}, buffer{.seed = 1, .buffer = 8};
  expect_same(Numbers(30) | exact, Numbers(30, 0, "y") | exact);
  expect_same(Numbers(30) | windows, Numbers(30, 0, "y") | windows);
  expect_same(StreamedNumbers(30) | buffer, StreamedNumbers(30, 0, "y") | buffer);
  expect_same(Numbers(30) | Sample{.seed = 1}, Numbers(30, 0, "y") | Sample{.seed = 1});
}

// Both maps stand at the same depth; drawing from the same stream they would give the same numbers.
TEST(Zip, InputsDrawNumbersOfTheirOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Zip{.inputs = {Numbers(50) | AddMillions(), Numbers(50, 0, "y") | AddMillions()}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_NE(Labels(all, 0), Labels(all, 1));
}

TEST(Zip, ALinearChainKeepsTheDrawsThatItHasAlone) {
  const Result<Dataset> chain = Numbers(50) | Shuffle{} | AddMillions();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset zipped,
                              Source(Zip{.inputs = {chain, Numbers(50, 0, "y")}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(zipped, Runtime::Inline()));
  EXPECT_EQ(Labels(all, 0), ValuesOf(chain));
}

TEST(Zip, StrictRefusesInputsOfDifferentLengths) {
  EXPECT_THAT(Source(Zip{.inputs = {Numbers(5), Numbers(3, 0, "y")}, .strict = true}),
              FailsWith(StatusCode::kInvalidArgument, "zip: the inputs have 5 and 3 elements"));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    const auto zipped = [](int64_t a, int64_t b) {
      return *Source(
          Zip{.inputs = {StreamedNumbers(a), StreamedNumbers(b, 0, "y")}, .strict = true});
    };
    EXPECT_THAT(ReadAll(zipped(5, 3), runtime),
                FailsWith(StatusCode::kFailedPrecondition,
                          "zip: input 1 ended after 3 elements, input 0 has more"));
    EXPECT_THAT(ReadAll(zipped(3, 5), runtime),
                FailsWith(StatusCode::kFailedPrecondition,
                          "zip: input 0 ended after 3 elements, input 1 has more"));
    EXPECT_THAT(ReadAll(zipped(4, 4), runtime), IsOk());
  }
}

TEST(Zip, InputsDivideTheThreadsThatTheUserHasSet) {
  for (const int threads : {1, 4}) {
    std::atomic<int> working[2] = {0, 0}, most[2] = {0, 0};
    const auto slow = [&](size_t input) {
      return Map{.function = [&, input](Element&, Rng&, Scratch&) {
        const int now = ++working[input];
        for (int seen = most[input]; seen < now; seen = most[input])
          most[input].compare_exchange_weak(seen, now);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --working[input];
        return OkStatus();
      }};
    };
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Source(Zip{.inputs = {StreamedNumbers(60) | slow(0),
                                                      StreamedNumbers(60, 0, "y") | slow(1)}}));
    Runtime runtime = Runtime::Threaded(threads);
    runtime.chunk = 1;
    STOKER_ASSERT_OK(ReadAll(dataset, runtime));
    for (const std::atomic<int>& most_of_one : most)
      EXPECT_LE(most_of_one, std::max(1, threads / 2));
  }
}

TEST(Zip, NeedsNamesThatDiffer) {
  EXPECT_THAT(Source(Zip{.inputs = {Numbers(5), Numbers(5)}}),
              FailsWith(StatusCode::kInvalidArgument, "two inputs have a field 'x'"));
  EXPECT_THAT(Source(Zip{.inputs = {Numbers(5), Numbers(5)}, .prefix = {"a_"}}),
              FailsWith(StatusCode::kInvalidArgument, "1 prefixes for 2 inputs"));
  EXPECT_EQ(
      Source(Zip{.inputs = {Numbers(5), Numbers(5)}, .prefix = {"a_", ""}})->spec().ToString(),
      "{a_x: int64[], x: int64[]}");
}

TEST(Zip, SaysWhetherItLeavesElementsOut) {
  EXPECT_EQ(Source(Zip{.inputs = {Numbers(5), Numbers(5, 0, "y")}})->node().Disturbs(), "");
  EXPECT_NE(Source(Zip{.inputs = {Numbers(5), Numbers(4, 0, "y")}})->node().Disturbs(), "");
}

TEST(Zip, AsksForTheMemoryOfItsInputs) {
  const Dataset input = Numbers(5);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset zipped,
                              Source(Zip{.inputs = {input, Numbers(5, 0, "y")}}));
  EXPECT_EQ(zipped.node().MemoryToRead(4), *input.node().MemoryToRead(4) * 2);
}

}  // namespace stoker::zip_test
