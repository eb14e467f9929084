// What the stages that hold elements between calls keep in memory: little more than what they hold.
#include "stoker/data/nodes/held_input.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/window.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"
#include "stoker/data/testing/testing.h"

namespace stoker::held_memory_test {

constexpr int64_t kBytes = 1024;  // of an element
constexpr int64_t kChunk = 64;    // elements that threads hand on at once, in one block

// n elements {index: int64[], x: uint8[1024]} by position.
Result<Dataset> Kilobytes(int64_t n) {
  return Source(Range{.stop = n}) |
         Map{.function =
                 [](Element& element, Rng&, Scratch& scratch) {
                   Array x = scratch.NewArray(DType::kUInt8, {kBytes});
                   std::ranges::fill(x.values<uint8_t>(), static_cast<uint8_t>(element.key.index));
                   element.arrays.push_back(std::move(x));
                   return OkStatus();
                 },
             .output = {{{"index", DType::kInt64, {}}, {"x", DType::kUInt8, {kBytes}}}}};
}

// One element of each chunk.
Filter OneOfEachChunk() {
  return {.predicate = [](const Element& element) { return element.key.index % kChunk == 0; }};
}

constexpr int64_t kBudget = 32 << 20;
constexpr int64_t kHeld = 1000;
// What `held` elements take, some of them with others in a block; what little may be kept alive
// before it counts; and, which has nothing to do with how many are held, what is on its way: on a
// busy machine as much as the budget lets.
constexpr int64_t MostFor(int64_t held) { return 2 * held * kBytes + kBudget / 8 + kBudget; }
static_assert(kHeld * kChunk * kBytes > MostFor(kHeld) * 3 / 2, "else nothing is shown");

// The most that a pass has in memory.
int64_t PeakBytes(const Result<Dataset>& dataset) {
  Runtime runtime = Runtime::Threaded(2);
  runtime.chunk = kChunk;
  runtime.memory_budget = kBudget;
  const auto iterator = *dataset->Open(runtime);
  while (true) {
    const Result<std::optional<Element>> element = iterator->Next();
    EXPECT_THAT(element, IsOk());
    if (!element.ok() || !*element) break;
  }
  return iterator->GetProfile().peak_memory_bytes;
}

TEST(HeldMemory, OfAShuffleBufferBehindAFilterIsThatOfItsElements) {
  const Result<Dataset> dataset =
      Kilobytes(2200 * kChunk) | OneOfEachChunk() | Shuffle{.buffer = kHeld};
  EXPECT_LT(PeakBytes(dataset), MostFor(kHeld));
}

TEST(HeldMemory, OfAShuffleBufferThatHoldsAllThatComesIsThatOfItsElements) {
  constexpr int64_t kMany = 10'000;
  const Result<Dataset> dataset =
      Kilobytes(60'000) | Filter{.field = "index", .min = 0} | Shuffle{.buffer = kMany};
  EXPECT_LT(PeakBytes(dataset), MostFor(kMany));
}

TEST(HeldMemory, OfBucketsBehindAFilterIsThatOfTheirElements) {
  const Result<Dataset> dataset =
      Kilobytes(2200 * kChunk) | OneOfEachChunk() |
      BucketByLength{
          .boundaries = {0, 1, 2, 3, 4}, .sizes = {kHeld}, .length = [](const Element& element) {
            return element.key.index / kChunk % 5;
          }};
  EXPECT_LT(PeakBytes(dataset), MostFor(5 * kHeld));
}

TEST(HeldMemory, OfAWindowBehindAFilterIsThatOfItsElements) {
  const Result<Dataset> dataset =
      Kilobytes(2200 * kChunk) | OneOfEachChunk() | Window{.size = kHeld, .shift = kHeld / 5};
  EXPECT_LT(PeakBytes(dataset), MostFor(5 * kHeld));
}

// n elements of `bytes` bytes, which their Spec does not say.
Dataset OfUnknownSize(int64_t n, int64_t bytes) {
  return FromGenerator({{{"x", DType::kUInt8, {kUnknownDim}}}}, [=](uint64_t) {
    return [=, left = n]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {bytes})}};
    };
  });
}

// What holding one of them takes.
const int64_t kEach = kBytes + HeldInput::BytesAround({{{"x", DType::kUInt8, {kUnknownDim}}}});

Status ReadUnder(const Result<Dataset>& dataset, Runtime runtime, int64_t budget) {
  runtime.memory_budget = budget;
  return ReadAll(*dataset, runtime).status();
}

TEST(HeldMemory, OfAShuffleBufferThatTurnsOutTooLargeIsRefused) {
  const auto shuffled = [](const Shuffle& shuffle) {
    return Result<Dataset>(OfUnknownSize(2000, kBytes)) | shuffle;
  };
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(
        ReadUnder(shuffled({.buffer = 50}), runtime, 20 * kEach),
        FailsWith(
            StatusCode::kResourceExhausted,
            fmt::format("shuffle: a buffer of 50 elements holds {} bytes with 22 of them, but "
                        "the memory budget is {} bytes; set buffer to 20 or less",
                        22 * kEach, 20 * kEach)));
    EXPECT_THAT(ReadUnder(shuffled({}), runtime, 20 * kEach),
                FailsWith(StatusCode::kResourceExhausted,
                          "a buffer of 1000 elements (the automatic size) holds"));
    EXPECT_THAT(ReadUnder(shuffled({.buffer = 20}), runtime, 20 * kEach), IsOk());
    EXPECT_THAT(ReadUnder(shuffled({.buffer = 1}), runtime, kBytes / 2), IsOk());
    const Result<Dataset> one = Result<Dataset>(OfUnknownSize(1, kBytes)) | Shuffle{.buffer = 50};
    EXPECT_THAT(ReadUnder(one, runtime, kBytes / 2), IsOk());
  }
}

TEST(HeldMemory, OfBucketsThatTurnOutTooLargeIsRefused) {
  const auto bucketed = [](int64_t size) {
    return Result<Dataset>(OfUnknownSize(200, kBytes)) |
           BucketByLength{.boundaries = {0, 1, 2, 3},
                          .sizes = {size},
                          .length = [](const Element& element) { return element.key.index % 5; }};
  };
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(
        ReadUnder(bucketed(20), runtime, 20 * kEach),
        FailsWith(StatusCode::kResourceExhausted,
                  fmt::format("bucket_by_length: the 27 elements that its 5 buckets hold take {} "
                              "bytes, but the memory budget is {}; use fewer boundaries",
                              27 * kEach, 20 * kEach)));
    EXPECT_THAT(ReadUnder(bucketed(5), runtime, 20 * kEach), IsOk());
  }
}

// As where it is read by position: one batch that is larger than the budget gets through.
TEST(HeldMemory, OfTheBatchThatABucketMakesIsLetThrough) {
  const Result<Dataset> dataset =
      Result<Dataset>(OfUnknownSize(100, kBytes)) |
      BucketByLength{.field = "x", .boundaries = {2 * kBytes}, .sizes = {50}};
  EXPECT_THAT(ReadUnder(dataset, Runtime::Threaded(2), 10 * kBytes), IsOk());
}

TEST(HeldMemory, OfAWindowThatTurnsOutTooLargeIsRefused) {
  const auto windowed = [](const Window& window) {
    return Kilobytes(500) | Filter{.field = "index", .min = 0} | window;
  };
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    // 301 elements are held for the sake of four.
    const Result<Dataset> wide = windowed({.size = 4, .shift = 1, .stride = 100});
    EXPECT_THAT(ReadUnder(wide, runtime, 100 * kBytes),
                FailsWith(StatusCode::kResourceExhausted, "of the 301 elements from a window's"));
    EXPECT_THAT(ReadUnder(wide, runtime, 500 * kBytes), IsOk());
    // What is in the window itself is let through.
    EXPECT_THAT(ReadUnder(windowed({.size = 100, .shift = 1}), runtime, 50 * kBytes), IsOk());
  }
}

// n numbers, 8 bytes each, that can only be read in order.
Result<Dataset> Tiny(int64_t n) {
  return Source(Range{.stop = n}) | Filter{.field = "index", .min = 0};
}

TEST(HeldMemory, OfTinyElementsIsMoreThanTheirValuesTake) {
  constexpr int64_t kTiny = 100'000;
  const int64_t around = kTiny * HeldInput::BytesAround(Tiny(1)->spec());
  EXPECT_GT(around, 20 * kTiny * 8);
  const Result<Dataset> held[] = {
      Tiny(kTiny) | Shuffle{.buffer = kTiny},
      Tiny(kTiny) | Window{.size = kTiny},
      Tiny(kTiny) | BucketByLength{.field = "index", .boundaries = {kTiny}, .sizes = {kTiny}},
  };
  for (const Result<Dataset>& dataset : held) {
    SCOPED_TRACE(dataset->ToString());
    const auto iterator = *dataset->Open(Runtime::Threaded(2));
    STOKER_ASSERT_OK(iterator->Next());
    EXPECT_GT(iterator->GetProfile().peak_memory_bytes, around);
  }
}

TEST(HeldMemory, OfAShuffleBufferOfTinyElementsThatDoesNotFitIsRefused) {
  EXPECT_THAT(
      ReadUnder(Tiny(1'000'000) | Shuffle{.buffer = 100'000}, Runtime::Threaded(2), 8 << 20),
      FailsWith(StatusCode::kResourceExhausted, "set buffer to"));
}

}  // namespace stoker::held_memory_test
