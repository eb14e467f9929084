#include "stoker/cluster/group.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/stop_scope.h"
#include "stoker/cluster/patient_threads_internal.h"
#include "stoker/cluster/ranks_testing.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Ranks : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Worlds, Ranks, ::testing::Values(1, 2, 3, 5));

TEST_P(Ranks, ReduceWhatAllOfThemHave) {
  AsRanks(GetParam(), [](Group& group) {
    const int64_t rank = group.membership().rank, world = group.membership().world;
    const struct {
      Reduction reduction;
      int64_t wanted;
    } cases[] = {{Reduction::kSum, world * (world - 1) / 2},
                 {Reduction::kMin, 0},
                 {Reduction::kMax, world - 1}};
    for (const auto& [reduction, wanted] : cases) {
      for (const auto type : {at::kFloat, at::kDouble, at::kLong, at::kBFloat16}) {
        at::Tensor tensor = at::full({7}, rank, type);
        ASSERT_TRUE(group.AllReduce(tensor, reduction, "a sum").ok());
        EXPECT_TRUE(at::equal(tensor, at::full({7}, wanted, type)));
      }
    }
  });
}

TEST_P(Ranks, HaveManyExchangesUnderWay) {
  AsRanks(GetParam(), [](Group& group) {
    std::vector<at::Tensor> tensors;
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (int64_t i = 0; i < 20; ++i) {
      tensors.push_back(at::full({1000}, i + group.membership().rank, at::kLong));
      auto started = group.StartAllReduce(tensors.back(), Reduction::kMax, "a part");
      ASSERT_TRUE(started.ok()) << started.status().ToString();
      exchanges.push_back(std::move(*started));
    }
    for (int64_t i = 19; i >= 0; --i) {
      ASSERT_TRUE(exchanges[i]->Wait().ok());
      EXPECT_EQ(tensors[i].min().item<int64_t>(), i + group.membership().world - 1);
    }
  });
}

TEST_P(Ranks, HaveWhatOneOfThemBroadcasts) {
  AsRanks(GetParam(), [](Group& group) {
    const int64_t root = group.membership().world - 1;
    at::Tensor tensor = at::full({3, 2}, group.membership().rank, at::kFloat);
    ASSERT_TRUE(group.Broadcast(tensor, root, "the weights").ok());
    EXPECT_TRUE(at::equal(tensor, at::full({3, 2}, root, at::kFloat)));
  });
}

TEST_P(Ranks, GatherTensorsAndTextsOfOtherLengths) {
  AsRanks(GetParam(), [](Group& group) {
    const int64_t rank = group.membership().rank, world = group.membership().world;
    at::Tensor gathered = at::empty({world, 2}, at::kLong);
    ASSERT_TRUE(group.AllGather(at::full({2}, rank, at::kLong), gathered, "counts").ok());
    EXPECT_TRUE(at::equal(gathered.select(1, 1), at::arange(world, at::kLong)));

    const auto texts = group.GatherTexts(std::string(rank, 'x'), "names");
    ASSERT_TRUE(texts.ok()) << texts.status().ToString();
    for (int64_t i = 0; i < world; ++i) EXPECT_EQ((*texts)[i], std::string(i, 'x'));
  });
}

TEST_P(Ranks, HaveTheirPartsOfASum) {
  AsRanks(GetParam(), [](Group& group) {
    const int64_t rank = group.membership().rank, world = group.membership().world;
    const at::Tensor whole = at::arange(2 * world, at::kFloat);
    at::Tensor part = at::empty({2}, at::kFloat);
    ASSERT_TRUE(group.ReduceScatter(whole, part, "parts").ok());
    EXPECT_TRUE(at::equal(part, whole.narrow(0, 2 * rank, 2) * world));
  });
}

TEST(GroupTest, SumsHaveTheSameBitsOnEveryRankAndInEveryRun) {
  const Shared<int64_t> bits[2][3];
  for (const auto& of_run : bits) {
    AsRanks(3, [&](Group& group) {
      at::Tensor tensor = at::arange(10007, at::kFloat).add_(group.membership().rank).sin_();
      ASSERT_TRUE(group.AllReduce(tensor, Reduction::kSum, "the gradients").ok());
      const at::Tensor weights = at::arange(10007, at::kLong).mul_(7919).add_(1);
      *of_run[group.membership().rank] =
          tensor.view(at::kInt).to(at::kLong).mul_(weights).sum().item<int64_t>();
    });
  }
  for (const auto& of_run : bits) {
    for (const auto& of_rank : of_run) EXPECT_EQ(*of_rank, *bits[0][0]);
  }
}

TEST(GroupTest, AGroupBesideAnotherHasAnOrderOfItsOwnAndItsEndEndsTheOtherNot) {
  AsRanks(3, [](Group& group) {
    auto made = group.Beside("norms");
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    std::unique_ptr<Group> beside = *std::move(made);
    const int64_t rank = group.membership().rank;
    at::Tensor of_one = at::full({5}, 1, at::kLong), of_other = at::full({9}, 2, at::kDouble);
    std::unique_ptr<Exchange> under_way;
    if (rank == 0) under_way = *group.StartAllReduce(of_one, Reduction::kSum, "a sum");
    ASSERT_TRUE(beside->AllReduce(of_other, Reduction::kSum, "another sum").ok());
    if (rank > 0) under_way = *group.StartAllReduce(of_one, Reduction::kSum, "a sum");
    ASSERT_TRUE(under_way->Wait().ok());
    EXPECT_TRUE(at::equal(of_one, at::full({5}, 3, at::kLong)));
    EXPECT_TRUE(at::equal(of_other, at::full({9}, 6, at::kDouble)));

    if (rank == 2)
      beside.reset();
    else
      EXPECT_EQ(beside->AllReduce(of_other, Reduction::kSum, "a sum").code(),
                StatusCode::kUnavailable);
    ASSERT_TRUE(group.AllReduce(of_one, Reduction::kSum, "a sum").ok());
    EXPECT_TRUE(at::equal(of_one, at::full({5}, 9, at::kLong)));
  });
}

TEST(GroupTest, ThreadsOfGlooDoNotInterruptThoseThatCompute) {
  const int usual = ::sched_getscheduler(0);
  {
    const PatientThreads patient;
    if (usual != SCHED_OTHER || ::sched_getscheduler(0) != SCHED_BATCH)
      GTEST_SKIP() << "this process is scheduled otherwise, or the system refuses SCHED_BATCH";
  }
  EXPECT_EQ(::sched_getscheduler(0), usual);
  AsRanks(2, [&](Group&) {
    int64_t patient = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
      patient += ::sched_getscheduler(std::stoi(entry.path().filename())) == SCHED_BATCH ? 1 : 0;
    EXPECT_GE(patient, 3);  // two that run exchanges, and one that waits for sockets
    EXPECT_EQ(::sched_getscheduler(0), usual);
  });
}

TEST(GroupTest, NobodyLeavesABarrierBeforeAllHaveCome) {
  const Shared<int> came;
  AsRanks(3, [&](Group& group) {
    std::this_thread::sleep_for(milliseconds(50 * group.membership().rank));
    ++*came;
    ASSERT_TRUE(group.Barrier("the start").ok());
    EXPECT_EQ(*came, 3);
  });
}

TEST(GroupTest, ALostRankIsAnErrorOfTheOthersThatSaysWhatWasBeingDone) {
  AsRanks(3, [](Group& group) {
    if (group.membership().rank == 2) return;  // its group goes away
    at::Tensor tensor = at::zeros({1000});
    EXPECT_THAT(group.AllReduce(tensor, Reduction::kSum, "the gradients of step 12").ToString(),
                AllOf(HasSubstr("the gradients of step 12: rank 2 on "),
                      HasSubstr(" has ended, and rank ")));
  });
}

TEST(GroupTest, TheErrorWithWhichARankLeavesIsTheErrorOfTheOthers) {
  AsRanks(3, [](Group& group) {
    if (group.membership().rank == 1) return group.Leave(DataLoss("photo.jpg is damaged"));
    at::Tensor tensor = at::zeros({1000});
    for (const char* const what : {"the gradients of step 12", "something later"}) {
      EXPECT_EQ(group.AllReduce(tensor, Reduction::kSum, what).message(),
                "rank 1 failed: photo.jpg is damaged");
    }
  });
}

TEST(GroupTest, ARankThatStaysAwayIsAnErrorAfterTheTimeout) {
  const Shared<int> waiting;
  AsRanks(3,
          [&](Group& group) {
            if (group.membership().rank == 1) {
              group.Does("reading a book");
              waiting.WaitUntil(2);
              return;
            }
            at::Tensor tensor = at::zeros({1000});
            const Status status = group.AllReduce(tensor, Reduction::kSum, "a sum");
            EXPECT_EQ(status.code(), StatusCode::kUnavailable);
            EXPECT_THAT(status.message(),
                        AllOf(HasSubstr("a sum: rank 1 on "), HasSubstr(" did not come within 3 s"),
                              HasSubstr("last seen reading a book")));
            ++*waiting;
          },
          {.timeout = milliseconds(3000)});
}

TEST(GroupTest, AWaitForOthersEndsWhenItsThreadIsAskedToStop) {
  const Shared<bool> stopped;
  AsRanks(2, [&](Group& group) {
    if (group.membership().rank == 1) {
      stopped.WaitUntil(true);
      return;
    }
    const StopScope stop([] { return true; });
    at::Tensor tensor = at::zeros({1000});
    EXPECT_EQ(group.AllReduce(tensor, Reduction::kSum, "a sum").code(), StatusCode::kCancelled);
    *stopped = true;
  });
}

TEST(GroupTest, AGroupThatGoesAwayEndsWhatIsUnderWay) {
  const Listener listener;
  const Shared<bool> ended;
  InProcesses(2, [&](int64_t rank) {
    auto group = JoinGroup(MemberOf(listener, rank, 2));
    ASSERT_TRUE(group.ok()) << group.status().ToString();
    if (rank == 1) {
      ended.WaitUntil(true);
      return;
    }
    at::Tensor tensor = at::zeros({1000});
    ASSERT_TRUE((*group)->StartAllReduce(tensor, Reduction::kSum, "a sum").ok());
    group->reset();  // does not wait until the timeout
    *ended = true;
  });
}

TEST(JoinGroupTest, NamesTheRanksThatDidNotCome) {
  const Listener listener;
  InProcesses(2, [&](int64_t i) {
    const auto group = JoinGroup(MemberOf(listener, 2 * i, 5), {.timeout = milliseconds(500)});
    ASSERT_FALSE(group.ok());
    EXPECT_EQ(group.status().code(), StatusCode::kUnavailable);
    if (i == 0) {  // the other one may find rank 0 gone
      EXPECT_THAT(group.status().message(),
                  ::testing::ContainsRegex("ranks 1, (2, )?3, 4 of 5 did not come within 0.5 s"));
    }
  });
}

TEST(JoinGroupTest, SaysThatRankZeroDidNotCome) {
  const Listener listener;
  ::close(listener.descriptor);
  const auto group = JoinGroup(MemberOf(listener, 1, 2), {.timeout = milliseconds(200)});
  EXPECT_THAT(
      group.status().message(),
      HasSubstr(fmt::format("127.0.0.1:{}: rank 0 did not come within 0.2 s", listener.port)));
}

// As if rank 0 were stopped: the system takes the connections.
TEST(JoinGroupTest, SaysThatRankZeroDoesNotAnswer) {
  const Listener listener;
  const auto group = JoinGroup(MemberOf(listener, 1, 2), {.timeout = milliseconds(200)});
  ASSERT_FALSE(group.ok());
  EXPECT_EQ(group.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(group.status().message(),
              HasSubstr(fmt::format("127.0.0.1:{}: rank 0 was reached, but did not answer within "
                                    "0.2 s: see whether its process is stopped",
                                    listener.port)));
}

TEST(JoinGroupTest, EndsWhenItsThreadIsAskedToStop) {
  const Listener listener;
  const StopScope stop([] { return true; });
  EXPECT_EQ(JoinGroup(MemberOf(listener, 0, 2)).status().code(), StatusCode::kCancelled);
}

TEST(JoinGroupTest, SaysThatAnotherProgramHasThePort) {
  const Listener listener;
  Membership first = MemberOf(listener, 0, 2);
  first.listener = -1;
  const Status status = JoinGroup(first).status();
  EXPECT_THAT(status.message(), HasSubstr("another program listens there"));
  ::close(listener.descriptor);
}

TEST(JoinGroupTest, SaysThatANameDoesNotResolve) {
  const Listener listener;
  Membership member = MemberOf(listener, 1, 2);
  member.host = "no-such-host.invalid";
  EXPECT_THAT(JoinGroup(member, {.timeout = milliseconds(100)}).status().message(),
              HasSubstr("no address is known for 'no-such-host.invalid'"));
  ::close(listener.descriptor);
}

TEST(JoinGroupTest, NamesBothProcessesThatHaveOneRank) {
  const Listener listener;
  const Shared<int> twice;
  InProcesses(3, [&](int64_t i) {
    const StopScope stop([&] { return *twice > 0; });
    const auto group = JoinGroup(MemberOf(listener, std::min<int64_t>(i, 1), 3));
    ASSERT_FALSE(group.ok());
    *twice += group.status().message().find("rank 1 was given to two processes, process ") == 0;
  });
  EXPECT_EQ(*twice, 1);
}

TEST(JoinGroupTest, NamesRanksThatDoNotAgreeOnTheirNumber) {
  const Listener listener;
  const Shared<int> said;
  InProcesses(2, [&](int64_t rank) {
    const StopScope stop([&] { return *said > 0; });
    const auto group = JoinGroup(MemberOf(listener, rank, 2 + rank));
    ASSERT_FALSE(group.ok());
    *said += group.status().code() == StatusCode::kInvalidArgument;
  });
  EXPECT_GE(*said, 1);
}

}  // namespace
}  // namespace stoker
