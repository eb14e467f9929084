#include "stoker/data/core/kept_memory.h"

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "stoker/data/core/runtime.h"
#include "stoker/data/testing/testing.h"

namespace stoker::kept_memory_test {

TEST(KeptMemory, IsChargedToEveryBudgetThatAPassKeepsAndOnceWhereSeveralShareOne) {
  const Dataset dataset = NumberedImages(4);
  const std::shared_ptr<Ledger>& shared = Ledger::Default();
  const int64_t before = shared->bytes();
  const Runtime sharing = Runtime::Inline();
  Runtime own = Runtime::Inline();
  own.memory_budget = 500;
  {
    KeptMemory kept;
    kept.Add(100);
    {
      const auto first = *Pass::Create(dataset, sharing, {});
      const auto second = *Pass::Create(dataset, sharing, {});
      const auto third = *Pass::Create(dataset, own, {});
      for (const auto& pass : {first, second, second, third}) kept.ChargeTo(*pass, dataset.node());
      EXPECT_EQ(shared->bytes(), before + 100);
      EXPECT_EQ(third->ledger().bytes(), 100);
      kept.Add(50);
      EXPECT_EQ(shared->bytes(), before + 150);
      EXPECT_EQ(third->ledger().bytes(), 150);
      EXPECT_EQ(third->GetProfile().stages[0].peak_memory_bytes, 150);
    }
    EXPECT_EQ(shared->bytes(), before + 150) << "what is kept outlives the passes";
    const auto later = *Pass::Create(dataset, own, {});
    kept.ChargeTo(*later, dataset.node());
    EXPECT_EQ(later->ledger().bytes(), 150);
    kept.Add(-150);
    EXPECT_EQ(shared->bytes(), before);
    EXPECT_EQ(later->ledger().bytes(), 0);
    kept.Add(7);
  }
  EXPECT_EQ(shared->bytes(), before);
}

TEST(KeptMemory, RefusesWhatDoesNotFitAndSaysHowMuchThereIs) {
  const Dataset dataset = NumberedImages(4);
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 3'000'000;
  const auto pass = *Pass::Create(dataset, runtime, {});
  KeptMemory kept;
  kept.ChargeTo(*pass, dataset.node());
  STOKER_ASSERT_OK(kept.AddIfItFits(*pass, 1'000'000, "a: the values take", "split a"));
  EXPECT_THAT(kept.AddIfItFits(*pass, 2'500'000, "b: the values take", "split b"),
              FailsWith(StatusCode::kResourceExhausted,
                        "b: the values take 2.5 MB of memory, but the budget is 3.0 MB, of which "
                        "1.0 MB are used; split b, or set Runtime::memory_budget higher"));
  EXPECT_EQ(pass->ledger().bytes(), 1'000'000);
  STOKER_ASSERT_OK(kept.AddIfItFits(*pass, 2'000'000, "b: the values take", "split b"));
}

TEST(KeptMemory, OfAnEarlierPassIsRefusedByABudgetThatItDoesNotFitInto) {
  const Dataset dataset = NumberedImages(4);
  Runtime runtime = Runtime::Inline();
  KeptMemory kept;
  kept.Add(2'000'000);
  runtime.memory_budget = 1'000'000;
  const auto small = *Pass::Create(dataset, runtime, {});
  EXPECT_THAT(kept.ChargeToIfItFits(*small, dataset.node(), "a: the values take", "split a"),
              FailsWith(StatusCode::kResourceExhausted,
                        "a: the values take 2.0 MB of memory, but the budget is 1.0 MB; split a"));
  EXPECT_EQ(small->ledger().bytes(), 0);
  runtime.memory_budget = 2'000'000;
  const auto large = *Pass::Create(dataset, runtime, {});
  for (int time = 0; time < 2; ++time) {
    STOKER_ASSERT_OK(kept.ChargeToIfItFits(*large, dataset.node(), "a: the values take", ""));
    EXPECT_EQ(large->ledger().bytes(), 2'000'000);
  }
  EXPECT_THAT(kept.AddIfItFits(*large, 1, "b: the values take", "split b"),
              FailsWith(StatusCode::kResourceExhausted, "of which 2.0 MB are used"));
}

TEST(KeptMemory, OfManyThreadsAtOnceOnlyAsManyGetItAsFitTogether) {
  constexpr int kThreads = 8, kRounds = 300;
  const Dataset dataset = NumberedImages(4);
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 3;
  const auto pass = *Pass::Create(dataset, runtime, {});
  for (int round = 0; round < kRounds; ++round) {
    std::vector<KeptMemory> kept(kThreads);
    for (KeptMemory& one : kept) one.ChargeTo(*pass, dataset.node());
    std::atomic<int> fitting = 0;
    std::barrier start(kThreads);
    std::vector<std::jthread> threads;
    for (KeptMemory& one : kept) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        if (one.AddIfItFits(*pass, 1, "it takes", "take less").ok()) ++fitting;
      });
    }
    threads.clear();
    ASSERT_EQ(fitting, 3);
    ASSERT_EQ(pass->ledger().bytes(), 3);
  }
}

}  // namespace stoker::kept_memory_test
