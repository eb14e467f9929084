// A pass that ends early, however it does, leaves nothing behind: no thread, no memory, at once.
#include <thread>

#include "stoker/base/statistics.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::broken_off_test {

constexpr auto kCall = std::chrono::milliseconds(1);

// Works for a millisecond, and fails or throws at an element where it is told to.
Map Working(int64_t fails_at, int64_t throws_at) {
  return {.function = [=](Element& element, Rng&, Scratch& scratch) -> Status {
    std::this_thread::sleep_for(kCall);
    element.arrays[0] = scratch.NewArray(DType::kUInt8, {1, 4, 4});
    std::ranges::fill(element.arrays[0].values<uint8_t>(), uint8_t{0});
    if (element.key.index == throws_at) throw std::runtime_error("user code broke");
    if (element.key.index == fails_at) return DataLoss("element {} is bad", fails_at);
    return OkStatus();
  }};
}

TEST(BrokenOff, LeavesNothingBehindAThousandTimesInARow) {
  const int64_t threads_before = ThreadsBefore();
  const int64_t bytes_before = Ledger::Default()->bytes();
  std::vector<double> joined_s;
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    const int64_t at = i % 7;
    const Dataset source = i % 2 == 0 ? NumberedImages(60) : StreamedImages(60);
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        Result<Dataset>(source) | Working(i % 3 == 1 ? at : -1, i % 3 == 2 ? at : -1) |
            Batch{.size = 1 + i % 2} | Prefetch{.deterministic = i % 5 != 0});
    STOKER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(i % 5)));
    bool failed = false;
    for (int64_t n = 0; n < (i % 3 == 0 ? at : 60) && !failed; ++n) failed = !iterator->Next().ok();
    EXPECT_EQ(failed, i % 3 != 0);
    const Stopwatch watch;
    iterator.reset();
    joined_s.push_back(watch.ElapsedSeconds());
  }
  // On a machine that does other things too, single ones may take longer.
  EXPECT_LT(Median(joined_s), 0.1);
  EXPECT_EQ(Ledger::Default()->bytes(), bytes_before);
  // The system takes a joined thread off its list a moment later.
  const Stopwatch watch;
  while (ThreadsOfProcess() > threads_before && watch.ElapsedSeconds() < 60) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(ThreadsOfProcess(), threads_before);
}

TEST(BrokenOff, SeveralThreadsEachReadAPassOfTheirOwnOverOneDataset) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(200) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 8} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                              ReadAll(dataset, Runtime::Inline()));
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 6; ++reader) {
    readers.emplace_back([&, reader] {
      for (int pass = 0; pass < 10; ++pass) {
        STOKER_ASSERT_OK_AND_ASSIGN(const auto got,
                                    ReadAll(dataset, Runtime::Threaded(reader % 3)));
        ASSERT_EQ(Fingerprint(got), Fingerprint(expected));
      }
    });
  }
}

}  // namespace stoker::broken_off_test
