#include "stoker/data/ops/interleave.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <thread>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/sources/range.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"

namespace stoker::interleave_test {

using testing::ElementsAre;

Spec NumberSpec() { return Numbers(1).spec(); }

// An input for each number n: as many elements as `lengths` says, 100 n, 100 n + 1, ...
InterleaveEach Hundreds(std::vector<int64_t> lengths, int64_t cycle, int64_t block = 1,
                        bool streamed = true) {
  return {.function = [lengths, streamed](const Element& element) -> Result<Dataset> {
            const int64_t n = element.arrays[0].values<int64_t>()[0];
            const int64_t length = lengths[static_cast<size_t>(n)];
            return streamed ? StreamedNumbers(length, 100 * n) : Numbers(length, 100 * n);
          },
          .output = NumberSpec(),
          .cycle_length = cycle,
          .block_length = block};
}

TEST(Interleave, TakesTurnsAndTheNextInputTakesThePlaceOfOneThatHasEnded) {
  const std::vector<int64_t> one_by_one = {0, 100, 200, 1, 101, 300, 2, 102, 301, 3, 302, 303};
  const std::vector<int64_t> two_by_two = {0, 1, 100, 101, 200, 2, 3, 102, 300, 301, 302, 303};
  for (const auto& [block, expected] : {std::pair{1, one_by_one}, std::pair{2, two_by_two}}) {
    for (const bool streamed : {true, false}) {
      SCOPED_TRACE(testing::Message() << "block " << block << ", streamed " << streamed);
      const auto numbers = [&](int64_t n, int64_t first) {
        return streamed ? StreamedNumbers(n, first) : Numbers(n, first);
      };
      EXPECT_EQ(ValuesOf(Source(Interleave{
                    .inputs = {numbers(4, 0), numbers(3, 100), numbers(1, 200), numbers(4, 300)},
                    .cycle_length = 3,
                    .block_length = block})),
                expected);
      EXPECT_EQ(ValuesOf(Numbers(4) | Hundreds({4, 3, 1, 4}, 3, block, streamed)), expected);
    }
  }
}

TEST(Interleave, ACycleOfOneIsOneInputAfterTheOther) {
  EXPECT_THAT(ValuesOf(Numbers(3) | Hundreds({2, 0, 2}, 1)), ElementsAre(0, 1, 200, 201));
}

TEST(Interleave, PassesOverEmptyInputs) {
  EXPECT_THAT(ValuesOf(Numbers(5) | Hundreds({0, 2, 0, 0, 1}, 2)), ElementsAre(100, 400, 101));
  EXPECT_THAT(ValuesOf(Source(Interleave{.inputs = {Numbers(0), Numbers(2), Numbers(0)}})),
              ElementsAre(0, 1));
  EXPECT_THAT(ValuesOf(Numbers(2) | Hundreds({0, 0}, 2)), testing::IsEmpty());
  EXPECT_THAT(ValuesOf(Numbers(0) | Hundreds({}, 2)), testing::IsEmpty());
}

TEST(Interleave, ByPositionAndInOrderTakeTheSameTurns) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Dataset> by_position, in_order;
    for (int64_t n = 1 + static_cast<int64_t>(random() % 6); n > 0; --n) {
      const auto length = static_cast<int64_t>(random() % 9);
      by_position.push_back(Numbers(length, 100 * n));
      in_order.push_back(StreamedNumbers(length, 100 * n));
    }
    const auto cycle = static_cast<int64_t>(1 + random() % 5);
    const auto block = static_cast<int64_t>(1 + random() % 4);
    SCOPED_TRACE(testing::Message()
                 << "trial " << trial << " cycle " << cycle << " block " << block);
    const Result<Dataset> positions = Source(
        Interleave{.inputs = Pipelines(by_position), .cycle_length = cycle, .block_length = block});
    EXPECT_TRUE(positions->node().random_access());
    EXPECT_EQ(ValuesOf(positions),
              ValuesOf(Source(Interleave{
                  .inputs = Pipelines(in_order), .cycle_length = cycle, .block_length = block})));
  }
}

TEST(Interleave, KeepsItsPromises) {
  for (const int64_t block : {1, 3}) {
    ExpectKeepsItsPromises(Numbers(7) | Shuffle{} | Hundreds({4, 3, 0, 1, 5, 2, 3}, 3, block) |
                           AddMillions());
    ExpectKeepsItsPromises(StreamedNumbers(5) | Hundreds({4, 3, 0, 6, 5}, 2, block, false) |
                           AddMillions() | Batch{.size = 4} | Prefetch{});
    ExpectKeepsItsPromises(
        Source(Interleave{.inputs = {StreamedNumbers(5) | AddMillions(), Numbers(4, 100),
                                     Numbers(3, 200) | AddMillions()},
                          .cycle_length = 2,
                          .block_length = block}));
    ExpectKeepsItsPromises(
        Source(Interleave{.inputs = {Numbers(9) | AddMillions(), Numbers(4, 100)},
                          .block_length = block}) |
        Shuffle{} | AddMillions());
  }
  InterleaveEach alone = Hundreds({4, 3, 2, 4}, 2);
  alone.parallel = false;
  ExpectKeepsItsPromises(Numbers(4) | alone | Repeat{.count = 2});
  ExpectKeepsItsPromises(Numbers(3) | Repeat{.count = 2} | Hundreds({4, 3, 2}, 2));
}

TEST(Interleave, InputsOfInputsKeepTheirPromises) {
  const InterleaveEach outer{.function = [](const Element& element) -> Result<Dataset> {
                               const int64_t n = element.arrays[0].values<int64_t>()[0];
                               return Numbers(2 + n) | Hundreds({3, 1, 2, 4}, 2) | AddMillions();
                             },
                             .output = NumberSpec(),
                             .cycle_length = 2};
  ExpectKeepsItsPromises(Numbers(3) | outer);
}

TEST(Interleave, InputsDrawNumbersOfTheirOwn) {
  const InterleaveEach noisy{.function = [](const Element&) { return Numbers(20) | AddMillions(); },
                             .output = NumberSpec(),
                             .cycle_length = 1};
  const std::vector<int64_t> values = ValuesOf(Numbers(2) | noisy);
  ASSERT_EQ(values.size(), 40u);
  EXPECT_NE(std::vector(values.begin(), values.begin() + 20),
            std::vector(values.begin() + 20, values.end()));
  EXPECT_EQ(values, ValuesOf(Numbers(2) | noisy));
  EXPECT_NE(values, ValuesOf(Numbers(2) | noisy, {.seed = 1}));
}

// Each read takes 5 ms, so that only reading side by side is quick.
TEST(Interleave, ReadsAsManyInputsAtOnceAsTheCycleIsLong) {
  std::atomic<int> reading = 0, most = 0;
  const InterleaveEach slow{
      .function = [&](const Element&) -> Result<Dataset> {
        return FromGenerator(NumberSpec(), [&](uint64_t) {
          return [&, left = 6]() mutable -> Result<std::optional<Element>> {
            if (left-- == 0) return std::nullopt;
            most = std::max<int>(most, ++reading);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            --reading;
            return Element{.arrays = {Array::Of(std::vector<int64_t>{left}).Reshaped({})}};
          };
        });
      },
      .output = NumberSpec(),
      .cycle_length = 8};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(40) | slow);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                              ReadAll(dataset, Runtime::Threaded(1)));
  EXPECT_EQ(all.size(), 240u);
  EXPECT_GE(most, 8);
  EXPECT_LE(most, 16);  // as many again read ahead
}

TEST(Interleave, StagesOfTheInputsAreCountedTogether) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(4) | Hundreds({4, 3, 2, 4}, 2));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    STOKER_ASSERT_OK(ReadAll(*iterator));
    std::vector<std::pair<std::string, int64_t>> counted;
    for (const StageProfile& stage : iterator->GetProfile().stages)
      counted.emplace_back(stage.name, stage.elements);
    EXPECT_THAT(counted,
                ElementsAre(testing::Pair("arrays", 4), testing::Pair("generator", 13),
                            testing::Pair("prefetch", 13), testing::Pair("interleave", 13)));
  }
}

TEST(Interleave, CanBeBrokenOffAtAnyMoment) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(9) | Repeat{} |
                                                         Hundreds({4, 3, 2, 4, 9, 1, 2, 3, 4}, 4) |
                                                         Prefetch{});
  for (int i = 0; i < 100; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(1 + i % 4)));
    for (int n = i % 17; n > 0; --n) STOKER_ASSERT_OK(iterator->Next());
  }
}

TEST(Interleave, AnErrorNamesTheInput) {
  const auto each = [](auto function) {
    return InterleaveEach{.function = function, .output = NumberSpec()};
  };
  EXPECT_THAT(ReadAll(*(Numbers(3) | each([](const Element&) -> Result<Dataset> {
                          throw std::runtime_error("user code broke");
                        })),
                      Runtime::Threaded(2)),
              FailsWith(StatusCode::kInternal, "input 0: the function threw: user code broke"));
  EXPECT_THAT(ReadAll(*(Numbers(3) | each([](const Element& element) -> Result<Dataset> {
                          return Numbers(1, 0, element.key.index == 1 ? "y" : "x");
                        })),
                      Runtime::Threaded(2)),
              FailsWith(StatusCode::kInvalidArgument, "input 1 has elements {y: int64[]}"));
}

TEST(Interleave, DeliversWhatComesBeforeAnInputThatCannotBeOpened) {
  const InterleaveEach each{.function = [](const Element& element) -> Result<Dataset> {
                              if (element.key.index == 2) return DataLoss("input 2 is bad");
                              return Numbers(2, 100 * element.key.index);
                            },
                            .output = NumberSpec(),
                            .cycle_length = 1};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(4) | each);
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    for (int i = 0; i < 4; ++i) STOKER_ASSERT_OK(iterator->Next());
    EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "input 2 is bad"));
  }
}

TEST(Interleave, ReadsThePipelineOfEveryFile) {
  const TempDir dir;
  for (const char* name : {"b", "a", "c"})
    STOKER_ASSERT_OK(WriteFileAtomically(dir / fmt::format("{}.txt", name),
                                         fmt::format("header\n{}1\n{}2\n{}3\n", name, name, name)));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ConfigNode list,
      ParseYaml("- interleave: {files: \"*.txt\", pipeline: [lines: {skip: 1}, take: 2], "
                "cycle_length: 2}\n",
                "r.yaml"));
  ConfigNode filled;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(list, dir.path(), &filled));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                              ReadAll(dataset, Runtime::Threaded(2)));
  std::string text;
  for (const Element& element : all)
    text.append(reinterpret_cast<const char*>(element.arrays[0].data()), 2);
  EXPECT_EQ(text, "a1b1a2b2c1c2");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset again, BuildPipeline(filled, dir.path()));
  ExpectKeepsItsPromises(again);
}

TEST(Interleave, ReadsEveryFileOfASourceThatTakesPatterns) {
  const TempDir dir;
  for (const int file : {1, 2, 3}) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir / fmt::format("{}.csv", file),
                                         fmt::format("n\n{0}1\n{0}2\n{0}3\n", file)));
  }
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ConfigNode list,
      ParseYaml("- interleave: {files: \"*.csv\", pipeline: [csv], cycle_length: 3}\n", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(list, dir.path()));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                              ReadAll(dataset, Runtime::Threaded(2)));
  std::vector<int64_t> numbers;
  for (const Element& element : all) numbers.push_back(element.arrays[0].values<int64_t>()[0]);
  EXPECT_THAT(numbers, testing::ElementsAre(11, 21, 31, 12, 22, 32, 13, 23, 33));
  ExpectKeepsItsPromises(dataset);
}

TEST(Interleave, RefusesOptionsThatMakeNoSense) {
  const std::pair<const char*, const char*> kCases[] = {
      {"- interleave\n", "give either inputs"},
      {"- interleave: {inputs: [[range: 3]], files: x}\n", "give either inputs"},
      {"- interleave: {files: x}\n", "give either inputs"},
      {"- interleave: {files: x, pipeline: [lines: y]}\n",
       "r.yaml:1:37: interleave.pipeline: lines.path is each of the files"},
      {"- interleave: {files: x, pipeline: [range: 3]}\n", "'range' is no source that reads files"},
      {"- interleave: {files: x, pipeline: [lines: {skp: 3}]}\n", "unknown option 'skp'"},
      {"- interleave: {inputs: [[range: 3]], cycle_length: 0}\n", "cycle_length is 0"},
      {"- interleave: {inputs: [[range: 3]], block_length: 0}\n", "block_length is 0"},
  };
  for (const auto& [yaml, says] : kCases)
    EXPECT_THAT(FromRecipe(yaml), FailsWith(StatusCode::kInvalidArgument, says)) << yaml;
}

// A plan lays out whole turns; one of these would take 8 GB.
TEST(Interleave, TurnsLongerThanMemoryAreReadLikeAnyOther) {
  constexpr int64_t kLong = 1'000'000'000;
  const std::vector<int64_t> one_after_the_other = {0, 1, 2, 100, 101};
  for (const int64_t block : {kLong, std::numeric_limits<int64_t>::max()}) {
    const Result<Dataset> dataset =
        Source(Interleave{.inputs = {Numbers(3), Numbers(2, 100)}, .block_length = block});
    EXPECT_TRUE(dataset->node().random_access());
    EXPECT_EQ(ValuesOf(dataset), one_after_the_other);
  }
  // Whole turns that no plan can lay out, and a last one that is.
  for (const int64_t length : {3 * kLong, 2 * kLong + 1, kLong - 1}) {
    const Result<Dataset> dataset =
        Source(Interleave{.inputs = {*Source(Range{.stop = length}),
                                     *Source(Range{.stop = length + 7, .start = 7})},
                          .block_length = kLong}) |
        Take{.count = 3};
    EXPECT_THAT(ValuesOf(dataset), ElementsAre(0, 1, 2)) << length;
  }
}

// The time of reading two inputs with so many places in the cycle.
double SecondsOfTwoInputs(int64_t cycle) {
  InterleaveEach two = Hundreds({3000, 3000}, cycle);
  two.parallel = false;
  const Stopwatch watch;
  EXPECT_EQ(ValuesOf(Numbers(2) | two).size(), 6000u);
  return watch.ElapsedSeconds();
}

// Each element would else pass over all empty places, each of which asks all others: 150 times as
// long.
TEST(Interleave, PlacesThatStayEmptyTakeNoTime) {
  double best = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 3; ++trial)
    best = std::min(best, SecondsOfTwoInputs(1024) / SecondsOfTwoInputs(2));
  EXPECT_LT(best, 10);
}

TEST(Interleave, HasNoMorePlacesThanListedInputs) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Interleave{.inputs = {StreamedNumbers(9), StreamedNumbers(9)}, .cycle_length = 1024}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
  EXPECT_EQ(state["cycle"].size(), 2u) << state;
}

// With fewer and fewer inputs left, whatever is resumed in the middle.
TEST(Interleave, PassesOverPlacesThatStayEmptyAlsoAfterRestoring) {
  for (const int64_t block : {1, 2}) {
    ExpectKeepsItsPromises(Numbers(3) | Hundreds({5, 1, 3}, 7, block) | Repeat{.count = 2});
    ExpectKeepsItsPromises(Numbers(5) | Hundreds({4, 0, 1, 0, 6}, 4, block));
  }
}

TEST(Interleave, StateHoldsOnlyTheInputsThatAreOpen) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Numbers(400) | InterleaveEach{.function = [](const Element&) { return StreamedNumbers(10); },
                                    .output = NumberSpec(),
                                    .cycle_length = 4});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  for (int i = 0; i < 3000; ++i) STOKER_ASSERT_OK(iterator->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
  EXPECT_LT(state.dump().size(), 800u) << state;
}

}  // namespace stoker::interleave_test
