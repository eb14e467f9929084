#include "stoker/cluster/rank_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Ranks of one process, whose store is in its memory.
class RankMonitorTest : public ::testing::Test {
 protected:
  void StartAll(size_t world, milliseconds timeout) {
    std::vector<std::string> hosts;
    for (size_t rank = 0; rank < world; ++rank) hosts.push_back("host" + std::to_string(rank));
    for (size_t rank = 0; rank < world; ++rank) {
      STOKER_ASSERT_OK_AND_ASSIGN(
          monitors_.emplace_back(),
          RankMonitor::Start(*store_,
                             {.rank = static_cast<int64_t>(rank),
                              .hosts = hosts,
                              .address = "127.0.0.1",
                              .timeout = timeout,
                              .end_exchanges = [this] { ++ended_; },
                              .hooks = {.on_fault = [this] { ++told_; },
                                        .on_unheard = [this](const Status&) { ++unheard_; },
                                        .stops = [this, rank] { return stops_ == rank; },
                                        .on_stop = [this] { ++stopped_; }}}));
    }
  }

  const c10::intrusive_ptr<c10d::HashStore> store_ = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::unique_ptr<RankMonitor>> monitors_;
  std::atomic<int> ended_{0}, told_{0}, unheard_{0}, stopped_{0};
  std::atomic<size_t> stops_{1000};  // the rank that is asked to stop
};

TEST_F(RankMonitorTest, RanksThatLeaveAtDifferentTimesAreNoFault) {
  StartAll(4, seconds(600));
  for (const size_t rank : {2, 0, 3, 1}) {
    for (const auto& monitor : monitors_) {
      if (!monitor) continue;
      STOKER_EXPECT_OK(monitor->WaitForFault(milliseconds(50)));
    }
    monitors_[rank].reset();
  }
  EXPECT_EQ(told_, 0);
}

TEST_F(RankMonitorTest, TheErrorOfOneIsToldToAllOthersAndEndsTheirExchanges) {
  StartAll(3, seconds(600));
  monitors_[1]->Leave(DataLoss("photo.jpg is damaged"));
  for (const size_t rank : {0, 2}) {
    const Status fault = monitors_[rank]->WaitForFault(seconds(60));
    EXPECT_EQ(fault.code(), StatusCode::kUnavailable);
    EXPECT_EQ(fault.message(), "rank 1 failed: photo.jpg is damaged");
  }
  monitors_.clear();
  EXPECT_EQ(ended_, 2);
  EXPECT_EQ(told_, 2);
}

TEST_F(RankMonitorTest, TheErrorOfRankZeroIsToldToo) {
  StartAll(3, seconds(600));
  monitors_[0]->Leave(ResourceExhausted("the disk is full"));
  for (const size_t rank : {1, 2}) {
    EXPECT_EQ(monitors_[rank]->WaitForFault(seconds(60)).message(),
              "rank 0 failed: the disk is full");
  }
}

TEST_F(RankMonitorTest, ARankThatOthersWaitForIsNamedAfterTheTimeoutOnEveryRank) {
  StartAll(3, milliseconds(1000));
  monitors_[1]->Does("computing step 12");
  for (const size_t rank : {0, 2})
    monitors_[rank]->Awaits(monitors_[rank]->Begins(), "the gradients of step 12");
  for (const auto& monitor : monitors_) {
    EXPECT_THAT(monitor->WaitForFault(seconds(60)).message(),
                AllOf(StartsWith("rank 1 on host1 did not come within 1 s: rank "),
                      HasSubstr(" waits for the gradients of step 12; it was last seen computing "
                                "step 12")));
  }
}

TEST_F(RankMonitorTest, ARankThatHasLeftIsNamedWhereAnotherWaitsForIt) {
  StartAll(3, seconds(600));
  monitors_[2]->Leave(OkStatus());
  monitors_[1]->Awaits(monitors_[1]->Begins(), "the gradients of step 12");
  EXPECT_EQ(monitors_[1]->WaitForFault(seconds(60)).message(),
            "rank 2 on host2 has ended, and rank 1 waits for it: the gradients of step 12");
}

TEST_F(RankMonitorTest, SoIsRankZero) {
  StartAll(2, seconds(600));
  monitors_[0]->Leave(OkStatus());
  monitors_[1]->Awaits(monitors_[1]->Begins(), "the gradients of step 12");
  EXPECT_EQ(monitors_[1]->WaitForFault(seconds(60)).message(),
            "rank 0 on host0 has ended, and rank 1 waits for it: the gradients of step 12");
}

TEST_F(RankMonitorTest, ALateRankThatDoesNotNoticeIsToldApart) {
  StartAll(2, milliseconds(500));
  monitors_[0]->Awaits(monitors_[0]->Begins(), "the gradients of step 12");
  EXPECT_FALSE(monitors_[0]->WaitForFault(seconds(60)).ok());  // rank 0 has noticed
  while (unheard_ == 0) std::this_thread::sleep_for(milliseconds(10));
  monitors_.clear();
  EXPECT_EQ(unheard_, 1);
}

TEST_F(RankMonitorTest, AllHearWhenOneIsAskedToStop) {
  StartAll(4, seconds(600));
  stops_ = 2;
  while (stopped_ < 4) std::this_thread::sleep_for(milliseconds(10));
  for (const auto& monitor : monitors_) STOKER_EXPECT_OK(monitor->fault());
  monitors_.clear();
  EXPECT_EQ(stopped_, 4);
  EXPECT_EQ(told_, 0);
}

TEST_F(RankMonitorTest, AStrangerWhoConnectsIsNoRank) {
  StartAll(2, seconds(600));
  const Json place = Json::parse(store_->get_to_str("monitor"));
  for (const char* const says :
       {"", "GET / HTTP/1.1\r\n\r\n", "{}\n", "{\"hello\":\"x\",\"rank\":1}\n",
        "{\"hello\":7,\"rank\":\"one\"}\n"}) {
    const int stranger = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(place["port"].get<uint16_t>());
    ASSERT_EQ(::connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::send(stranger, says, std::strlen(says), MSG_NOSIGNAL),
              static_cast<ssize_t>(std::strlen(says)));
    ::close(stranger);
  }
  for (const auto& monitor : monitors_) STOKER_EXPECT_OK(monitor->WaitForFault(milliseconds(200)));
}

// --- Ranks that are processes, which can be killed and stopped.

class KilledRank : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, KilledRank, ::testing::Values(0, 1, 2));

TEST_P(KilledRank, IsNamedByTheOthersWhileTheyComputeLongBeforeTheTimeout) {
  const int64_t killed = GetParam();
  const Shared<int> heard;
  InProcesses(1, [&](int64_t) {  // which does not expect that the ranks end well
    const Listener listener;
    std::vector<pid_t> ranks;
    const Shared<int> ready;
    for (int64_t rank = 0; rank < 3; ++rank) {
      ranks.push_back(::fork());
      if (ranks.back() != 0) continue;
      ::signal(SIGPIPE, SIG_IGN);
      std::atomic<bool> fault{false};
      auto group =
          JoinGroup(MemberOf(listener, rank, 3),
                    {.timeout = seconds(600), .hooks = {.on_fault = [&] { fault = true; }}});
      if (!group.ok()) ::_exit(1);
      (*group)->Does(fmt::format("computing step {}", 7 + rank));
      std::this_thread::sleep_for(milliseconds(1200));  // until the others have heard it
      ++*ready;
      while (!fault) std::this_thread::sleep_for(milliseconds(1));
      const std::string message = (*group)->Barrier("the gradients of step 9").message();
      *heard += message.starts_with(fmt::format("the gradients of step 9: rank {} on ", killed)) &&
                message.ends_with(fmt::format(" is lost: its connection was closed; it was last "
                                              "seen computing step {}",
                                              7 + killed));
      ::_exit(0);
    }
    ready.WaitUntil(3);
    const Stopwatch since;
    ::kill(ranks[static_cast<size_t>(killed)], SIGKILL);
    for (const pid_t rank : ranks) ::waitpid(rank, nullptr, 0);
    EXPECT_LT(since.ElapsedSeconds(), 60);  // and not only after the timeout
  });
  EXPECT_EQ(*heard, 2);
}

class StoppedRank : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, StoppedRank, ::testing::Values(0, 1));

// Stops one of two ranks for `stopped`, and returns what the other finds, and what it finds itself.
std::pair<std::string, std::string> Stop(int64_t rank, milliseconds stopped, milliseconds timeout) {
  const Listener listener;
  const Shared<int> ready, done;
  std::vector<pid_t> ranks;
  int found[2][2] = {};
  for (int64_t each = 0; each < 2; ++each) {
    EXPECT_EQ(::pipe(found[each]), 0);
    ranks.push_back(::fork());
    if (ranks.back() != 0) continue;
    ::signal(SIGPIPE, SIG_IGN);
    std::string message;
    auto group = JoinGroup(MemberOf(listener, each, 2), {.timeout = timeout});
    if (group.ok()) {
      ++*ready;
      if (each != rank) {
        message = (*group)->Barrier("the gradients of step 9").message();
      } else {
        ready.WaitUntil(3);
        message = (*group)->Barrier("the gradients of step 9").message();
      }
    } else {
      message = group.status().ToString();
    }
    EXPECT_EQ(::write(found[each][1], message.data(), message.size()), std::ssize(message));
    ++*done;
    if (group.ok()) group->reset();
    ::_exit(0);
  }
  ready.WaitUntil(2);
  const pid_t stops = ranks[static_cast<size_t>(rank)];
  ::kill(stops, SIGSTOP);
  std::this_thread::sleep_for(stopped);
  ++*ready;
  ::kill(stops, SIGCONT);
  std::string said[2];
  for (int64_t each = 0; each < 2; ++each) {
    ::waitpid(ranks[static_cast<size_t>(each)], nullptr, 0);
    ::close(found[each][1]);
    char text[2000];
    const ssize_t size = ::read(found[each][0], text, sizeof text);
    said[each].assign(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
    ::close(found[each][0]);
  }
  return {said[1 - rank], said[rank]};
}

TEST_P(StoppedRank, ThatGoesOnInTimeIsNoFaultOfAnybody) {
  const auto [other, own] = Stop(GetParam(), seconds(3), seconds(600));
  EXPECT_EQ(other, "");
  EXPECT_EQ(own, "");
}

TEST_P(StoppedRank, ThatGoesOnTooLateIsNamedByTheOtherAndAccusesNobody) {
  const int64_t rank = GetParam();
  const auto [other, own] = Stop(rank, seconds(6), seconds(2));
  EXPECT_THAT(other, HasSubstr(fmt::format("rank {} on ", rank)));
  EXPECT_THAT(other, ::testing::AnyOf(HasSubstr("is lost: nothing was heard of it for 2 s"),
                                      HasSubstr("did not come within 2 s")));
  // It hears what the other says of it, if that is still there.
  EXPECT_NE(own, "");
  EXPECT_THAT(own,
              ::testing::Not(::testing::AllOf(HasSubstr("nothing was heard"),
                                              HasSubstr(fmt::format("rank {} on ", 1 - rank)))));
}

}  // namespace
}  // namespace stoker
