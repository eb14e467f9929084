// The memory budget of a pass: what is held, what is admitted, who shares it.
#include <thread>

#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::memory_test {

TEST(Scratch, HasNoMemoryForMoreBytesThanCanBeCounted) {
  BufferPool pool(Ledger::Create(1 << 20)->OpenAccount("test"), /*max_idle_bytes=*/0);
  Scratch scratch(pool);
  constexpr int64_t k2To31 = int64_t{1} << 31;
  for (const Shape& shape : {Shape{k2To31, k2To31 / 2}, Shape{k2To31, k2To31, 4},
                             Shape{k2To31 * k2To31}, Shape{(int64_t{1} << 60) - 1}}) {
    EXPECT_THROW(static_cast<void>(scratch.NewArray(DType::kInt64, shape)), std::bad_alloc)
        << ShapeToString(shape);
  }
  EXPECT_EQ(scratch.NewArray(DType::kInt64, {k2To31, k2To31, k2To31, 0}).num_bytes(), 0u);
}

TEST(Pass, HoldsNoMoreThanTheBudgetAndOneElementUnderASlowConsumer) {
  constexpr int64_t kElement = 1 << 20;
  const Dataset source = NumberedImages(200);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(source) |
          Map{.function =
                  [](Element& element, Rng&, Scratch& scratch) {
                    element.arrays[0] = scratch.NewArray(DType::kUInt8, {kElement});
                    std::ranges::fill(element.arrays[0].values<uint8_t>(), 1);
                    return OkStatus();
                  },
              .output = {{{"image", DType::kUInt8, {kElement}}, source.spec().fields[1]}}} |
          Prefetch{.depth = 100});
  Runtime runtime = Runtime::Threaded(4);
  runtime.memory_budget = 8 * kElement;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
  for (int i = 0; i < 200; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
    ASSERT_TRUE(element);
    if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_LE(iterator->GetProfile().peak_memory_bytes, runtime.memory_budget + 2 * kElement);
}

Map MakeBytes(const Dataset& input, int64_t bytes, std::chrono::milliseconds takes = {}) {
  return {.function =
              [bytes, takes](Element& element, Rng&, Scratch& scratch) {
                Array made = scratch.NewArray(DType::kUInt8, {bytes});
                std::ranges::fill(made.values<uint8_t>(), uint8_t{1});
                std::this_thread::sleep_for(takes);  // the array that it is made from lives on
                element.arrays[0] = std::move(made);
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {bytes}}, input.spec().fields[1]}}};
}

TEST(Pass, AdmitsAnElementWithTheIntermediateResultsOnItsWay) {
  constexpr int64_t kLarge = 4 << 20, kSmall = 64 << 10;
  const Dataset source = NumberedImages(60);
  for (const bool spec_known : {true, false}) {
    Map shrink = MakeBytes(source, kSmall, std::chrono::milliseconds(3));
    if (!spec_known) shrink.output.fields[0].shape = {kUnknownDim};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | MakeBytes(source, kLarge) | shrink);
    Runtime runtime = Runtime::Threaded(6);
    runtime.memory_budget = 10 << 20;
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
    for (int i = 0; i < 60; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      ASSERT_TRUE(element);
    }
    // The budget, one element on its way, and the one that is read here.
    EXPECT_LE(iterator->GetProfile().peak_memory_bytes,
              runtime.memory_budget + kLarge + 2 * kSmall + 4096);
  }
}

TEST(Pass, CountsArraysOfUserCodeWhileTheyAreQueued) {
  constexpr int64_t kElement = 1 << 20;
  std::atomic<int> made = 0;
  const Dataset source = FromGenerator({{{"x", DType::kUInt8, {kElement}}}}, [&](uint64_t) {
    return [&]() -> Result<std::optional<Element>> {
      ++made;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {kElement})}};
    };
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(source) | Prefetch{.depth = 100});
  Runtime runtime = Runtime::Threaded(2);
  runtime.memory_budget = 8 * kElement;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
  STOKER_ASSERT_OK(iterator->Next());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // as many as may be
  EXPECT_GE(made, 4);
  EXPECT_LE(made, 10);
  for (int i = 0; i < 50; ++i) STOKER_ASSERT_OK(iterator->Next());
}

TEST(Pass, ReadsAheadWhereElementsOfUnknownSizeReachAPrefetchCharged) {
  const Dataset source = FromGenerator({{{"x", DType::kUInt8, {kUnknownDim}}}}, [](uint64_t) {
    return [left = 80]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {1000})}};
    };
  });
  const Map copy{.function = [](Element& element, Rng&, Scratch& scratch) {
    element.arrays[0] = scratch.NewArray(DType::kUInt8, {1000});
    return OkStatus();
  }};
  Runtime runtime = Runtime::Threaded(4);
  runtime.memory_budget = 1 << 20;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(source) | copy | Prefetch{.depth = 8});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
  for (int i = 0; i < 80; ++i) {
    STOKER_ASSERT_OK(iterator->Next());
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  EXPECT_GT(iterator->GetProfile().stages.back().mean_queue_depth, 2);  // of 9
}

TEST(Pass, WithoutABudgetOfItsOwnSharesOneWithAllOthers) {
  const int64_t before = Ledger::Default()->bytes();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(8) | AddNoise());
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto first, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto second, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto of_first, first->Next());
    EXPECT_EQ(Ledger::Default()->bytes(), before + 64);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto of_second, second->Next());
    EXPECT_EQ(Ledger::Default()->bytes(), before + 128);
    EXPECT_EQ(second->GetProfile().peak_memory_bytes, 64);  // its own

    Runtime own = Runtime::Inline();
    own.memory_budget = 1 << 20;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto third, dataset.Open(own));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto of_third, third->Next());
    EXPECT_EQ(Ledger::Default()->bytes(), before + 128);
  }
  EXPECT_EQ(Ledger::Default()->bytes(), before);
}

}  // namespace stoker::memory_test
