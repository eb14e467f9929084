// What the memory budget promises of whole pipelines: resident memory stays near it whatever the
// elements' size, one that is larger gets through, and no budget ever stops a pipeline for good.
#include <fstream>
#include <future>
#include <thread>

#include "stoker/data/ops/prefetch.h"
#include "stoker/data/testing/random_pipeline.h"

namespace stoker::budget_test {

constexpr int64_t kMB = 1'000'000;

// Elements of so many bytes, each written.
Result<Dataset> LargeElements(int64_t count, int64_t bytes) {
  const Dataset source = NumberedImages(count);
  return Result<Dataset>(source) |
         Map{.function =
                 [bytes](Element& element, Rng&, Scratch& scratch) {
                   Array made = scratch.NewArray(DType::kUInt8, {bytes});
                   std::ranges::fill(made.values<uint8_t>(),
                                     static_cast<uint8_t>(element.key.index));
                   element.arrays[0] = std::move(made);
                   return OkStatus();
                 },
             .output = {{{"image", DType::kUInt8, {bytes}}, source.spec().fields[1]}}} |
         Prefetch{.depth = 100};
}

[[maybe_unused]] int64_t ResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

TEST(Budget, BoundsWhatIsResidentUnderAFastProducerAndASlowConsumer) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory of its own";
#else
  const struct {
    int64_t element, budget;
    int count;
  } cases[] = {{kMB, 40 * kMB, 200}, {10 * kMB, 60 * kMB, 40}, {100 * kMB, 350 * kMB, 10}};
  for (const auto& [element, budget, count] : cases) {
    SCOPED_TRACE(testing::Message() << element << " bytes");
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, LargeElements(count, element));
    Runtime runtime = Runtime::Threaded(4);
    runtime.memory_budget = budget;
    const int64_t before = ResidentBytes();
    int64_t most = 0;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    for (int i = 0; i < count; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> got, iterator->Next());
      ASSERT_TRUE(got);
      if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      most = std::max(most, ResidentBytes() - before);
    }
    // The element that the consumer holds, the one that is exempt, and what malloc and threads
    // take.
    EXPECT_LE(most, budget + 2 * element + 32 * kMB);
    EXPECT_GE(most, budget / 4) << "nothing was read ahead, so nothing is shown";
  }
#endif
}

TEST(Budget, LetsElementsThroughThatAreLargerThanItself) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, LargeElements(10, 8 * kMB));
  Runtime runtime = Runtime::Threaded(4);
  runtime.memory_budget = kMB;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
  for (uint8_t i = 0; i < 10; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
    ASSERT_TRUE(element);
    ASSERT_EQ(element->arrays[0].values<uint8_t>().back(), i);
  }
  // One is the consumer's while the next is made.
  EXPECT_LE(iterator->GetProfile().peak_memory_bytes, 2 * 8 * kMB + kMB);
}

// Ends the process where `work` has not come to its end after very much longer than it takes: a
// deadlock would otherwise hang the whole suite without a word.
template <typename Work>
void Watched(const std::string& what, const Work& work) {
  std::future<void> done = std::async(std::launch::async, work);
  if (done.wait_for(std::chrono::seconds(120)) == std::future_status::ready) return done.get();
  fmt::print(stderr, "a pipeline stands still: {}\n", what);
  std::abort();
}

TEST(Budget, NeverStopsAPipelineForGood) {
  for (uint32_t seed = 0; seed < 250; ++seed) {
    Draws draws(seed + 1000);
    STOKER_ASSERT_OK_AND_ASSIGN(Dataset dataset, RandomPipeline(seed));
    if (draws.Coin()) {
      STOKER_ASSERT_OK_AND_ASSIGN(
          dataset, Result<Dataset>(dataset) | Prefetch{.deterministic = draws.Coin()});
    }
    Runtime runtime = Runtime::Threaded(static_cast<int>(draws.Below(6)));
    runtime.memory_budget = int64_t{1} << draws.Below(16);
    runtime.chunk = draws.Below(4);
    const int64_t keeps = draws.Below(20);  // elements that the consumer does not give back at once
    Watched(fmt::format("seed {}, budget {}, {} threads\n{}", seed, runtime.memory_budget,
                        runtime.threads, dataset.ToString()),
            [&] {
              const Result<std::unique_ptr<Iterator>> opened = dataset.Open(runtime);
              if (opened.status().code() == StatusCode::kResourceExhausted) return;
              STOKER_ASSERT_OK(opened);
              std::deque<Element> kept;
              while (true) {
                Result<std::optional<Element>> element = (*opened)->Next();
                // An end as well: a shuffle's buffer that the budget does not hold is refused.
                if (element.status().code() == StatusCode::kResourceExhausted) break;
                STOKER_ASSERT_OK(element);
                if (!*element) break;
                kept.push_back(**std::move(element));
                if (std::ssize(kept) > keeps) kept.pop_front();
              }
            });
  }
}

// Two passes share one budget and are read in turn: neither may wait for memory that only the other
// one's consumer, the same thread, could give back.
TEST(Budget, LetsOneThreadReadTwoPassesThatShareIt) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, LargeElements(20, kMB));
  Watched("two passes", [&] {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto first, dataset.Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto second, dataset.Open(Runtime::Threaded(2)));
    for (int i = 0; i < 20; ++i) {
      STOKER_ASSERT_OK(first->Next());
      STOKER_ASSERT_OK(second->Next());
    }
  });
}

}  // namespace stoker::budget_test
