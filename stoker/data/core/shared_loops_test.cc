#include "stoker/data/core/shared_loops.h"

#include <latch>
#include <stdexcept>
#include <thread>

#include "stoker/base/ledger.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/testing/testing.h"

namespace stoker::shared_loops_test {

using testing::ElementsAre;

void Nobody() {}

// Runs `work` as a thread that shares its loops, chunk number `chunk`.
template <typename Work>
int64_t AsMember(SharedLoops& loops, int64_t chunk, const Work& work) {
  const SharedLoops::Member member(loops, chunk);
  work();
  return member.asked_by_others();
}

TEST(SharedLoops, RunsEachRoundOnceInOrderWhereNobodyHelps) {
  StageStats stats("stage");
  SharedLoops loops(Nobody);
  std::vector<int64_t> shared, alone;
  AsMember(loops, 0,
           [&] { ForEachShared(4, stats, [&](int64_t round) { shared.push_back(round); }); });
  ForEachShared(4, stats, [&](int64_t round) { alone.push_back(round); });
  EXPECT_THAT(shared, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(alone, ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(loops.has_work());
}

TEST(SharedLoops, OthersRunRoundsWhileTheLoopIsOpen) {
  constexpr int kThreads = 4;
  StageStats stats("stage");
  std::latch opened(1);
  SharedLoops loops([&] { opened.count_down(); });
  std::latch all_in_a_round(kThreads);
  std::vector<std::jthread> helpers;
  for (int i = 1; i < kThreads; ++i) {
    helpers.emplace_back([&] {
      opened.wait();
      loops.Help();
    });
  }
  std::atomic<int> runs[kThreads] = {};
  AsMember(loops, 0, [&] {
    ForEachShared(kThreads, stats, [&](int64_t round) {
      ++runs[round];
      all_in_a_round.arrive_and_wait();  // ends only where each is on a thread of its own
    });
  });
  for (const auto& times : runs) EXPECT_EQ(times, 1);
  EXPECT_GT(StageProfile::Of(stats).busy_s, 0);
}

TEST(SharedLoops, RoundsOfAnOlderChunkComeFirst) {
  StageStats stats("stage");
  std::latch old_is_open(1), young_is_done(1);
  SharedLoops loops(Nobody);
  std::vector<std::string> order;  // of rounds on this thread
  std::jthread old([&] {
    AsMember(loops, 0, [&] {
      ForEachShared(3, stats, [&](int64_t round) {
        if (round == 0) {
          old_is_open.count_down();
          young_is_done.wait();
        } else {
          order.push_back(fmt::format("old {}", round));
        }
      });
    });
  });
  old_is_open.wait();
  AsMember(loops, 1, [&] {
    ForEachShared(2, stats,
                  [&](int64_t round) { order.push_back(fmt::format("young {}", round)); });
  });
  young_is_done.count_down();
  old.join();
  EXPECT_THAT(order, ElementsAre("old 1", "old 2", "young 0", "young 1"));
}

TEST(SharedLoops, ALoopWithinARoundStaysOnItsThread) {
  StageStats stats("stage");
  int opened = 0;
  SharedLoops loops([&] { ++opened; });
  std::set<std::thread::id> threads;
  AsMember(loops, 0, [&] {
    ForEachShared(2, stats, [&](int64_t) {
      ForEachShared(2, stats, [&](int64_t) { threads.insert(std::this_thread::get_id()); });
    });
  });
  EXPECT_EQ(opened, 1);
  EXPECT_THAT(threads, ElementsAre(std::this_thread::get_id()));
}

TEST(SharedLoops, WhatTheFirstRoundThrowsIsThrownAndNoOtherIsBegun) {
  StageStats stats("stage");
  SharedLoops loops(Nobody);
  std::vector<int64_t> begun;
  AsMember(loops, 0, [&] {
    try {
      ForEachShared(100, stats, [&](int64_t round) {
        begun.push_back(round);
        if (round == 3) throw std::runtime_error("round 3");
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "round 3");
    }
  });
  EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(loops.has_work());
}

TEST(SharedLoops, BytesAreCountedForTheChunkThatTheyAreAskedFor) {
  StageStats stats("stage");
  BufferPool pool(Ledger::Create(1 << 20)->OpenAccount("stage"), 1 << 20);
  std::latch opened(1), both_in_a_round(2);
  SharedLoops loops([&] { opened.count_down(); });
  int64_t helper_asked = -1;
  std::jthread helper([&] {
    opened.wait();
    const int64_t before = Scratch::BytesAskedByThisThread();
    loops.Help();
    helper_asked = Scratch::BytesAskedByThisThread() - before;
  });
  const int64_t before = Scratch::BytesAskedByThisThread();
  const int64_t asked_by_others = AsMember(loops, 0, [&] {
    ForEachShared(2, stats, [&](int64_t) {
      both_in_a_round.arrive_and_wait();
      (void)Scratch(pool).NewArray(DType::kUInt8, {1024});
    });
  });
  helper.join();
  EXPECT_EQ(asked_by_others, 1024);
  EXPECT_EQ(Scratch::BytesAskedByThisThread() - before, 1024);
  EXPECT_EQ(helper_asked, 0);
}

}  // namespace stoker::shared_loops_test
