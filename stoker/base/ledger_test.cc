#include "stoker/base/ledger.h"

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/base/worker_group.h"

namespace stoker::ledger_test {

const auto kNever = [] { return false; };
const auto kAlways = [] { return true; };

TEST(Ledger, CountsBytesAndPeaksByAccountAndInAll) {
  const auto ledger = Ledger::Create(1000);
  const auto decode = ledger->OpenAccount("decode");
  const auto batch = ledger->OpenAccount("batch");
  decode->Charge(300);
  batch->Charge(200);
  decode->Release(100);
  EXPECT_EQ(decode->stage(), "decode");
  EXPECT_EQ(decode->bytes(), 200);
  EXPECT_EQ(decode->peak_bytes(), 300);
  EXPECT_EQ(ledger->bytes(), 400);
  EXPECT_EQ(ledger->peak_bytes(), 500);
  EXPECT_EQ(ledger->budget_bytes(), 1000);
}

TEST(Ledger, ChargingNeverFailsAboveTheBudget) {
  const auto ledger = Ledger::Create(10);
  const auto account = ledger->OpenAccount("a");
  account->Charge(1000);
  EXPECT_EQ(ledger->bytes(), 1000);
}

TEST(Ledger, AnAccountKnowsWhatFitsBesideAllOthers) {
  const auto ledger = Ledger::Create(100);
  const auto reads = ledger->OpenAccount("reads"), other = ledger->OpenAccount("other");
  other->Charge(50);
  const Ledger::Admission admission = ledger->Admit(20, kNever, kAlways);
  EXPECT_TRUE(reads->HasRoomFor(30));
  EXPECT_FALSE(reads->HasRoomFor(31));
}

TEST(Ledger, AnAdmissionReservesUntilItGoes) {
  const auto ledger = Ledger::Create(100);
  {
    Ledger::Admission admission = ledger->Admit(60, kNever, kAlways);
    EXPECT_TRUE(admission.granted());
    EXPECT_EQ(ledger->bytes(), 60);
    EXPECT_FALSE(ledger->Admit(60, kNever, kAlways).granted());
    Ledger::Admission moved = std::move(admission);
    EXPECT_FALSE(admission.granted());  // NOLINT: what moving leaves behind is what is tested
    EXPECT_TRUE(ledger->Admit(40, kNever, kAlways).granted());
    moved = Ledger::Admission();
    EXPECT_EQ(ledger->bytes(), 0);
    admission = ledger->Admit(100, kNever, kAlways);
  }
  EXPECT_EQ(ledger->bytes(), 0);
}

TEST(Ledger, EachSettingThatRaisesTheBudgetIsNamedOnce) {
  const std::string before = HowToRaiseTheBudget();
  SetHowToRaiseTheBudget("allow the container more memory");
  EXPECT_EQ(HowToRaiseTheBudget(), "allow the container more memory");
  AddWayToRaiseTheBudget("--memory");
  EXPECT_EQ(HowToRaiseTheBudget(), "raise the budget (--memory)");
  for (int i = 0; i < 2; ++i) AddWayToRaiseTheBudget("train.memory in the recipe");
  EXPECT_EQ(HowToRaiseTheBudget(), "raise the budget (--memory, or train.memory in the recipe)");
  SetHowToRaiseTheBudget(before);
}

TEST(Ledger, AnAccountMayBePartOfAnother) {
  const auto ledger = Ledger::Create(1000);
  const auto whole = ledger->OpenAccount("pass");
  const auto decode = ledger->OpenAccount("decode", whole);
  const auto batch = ledger->OpenAccount("batch", whole);
  decode->Charge(300);
  batch->Charge(200);
  decode->Release(300);
  EXPECT_EQ(whole->bytes(), 200);
  EXPECT_EQ(whole->peak_bytes(), 500);
  EXPECT_EQ(ledger->bytes(), 200);  // counted once
}

TEST(Ledger, ThereIsOneForAllWhoSetNoBudget) {
  EXPECT_EQ(Ledger::Default(), Ledger::Default());
  EXPECT_EQ(Ledger::Default()->budget_bytes(), DefaultMemoryBudget());
}

TEST(Ledger, TheExemptElementPassesOverTheBudget) {
  const auto ledger = Ledger::Create(10);
  const Ledger::Admission admission = ledger->Admit(1'000'000, kAlways, kNever);
  EXPECT_TRUE(admission.granted());
  EXPECT_EQ(ledger->bytes(), 1'000'000);
}

// Asks for more than fits, in a thread of its own. Its first look at the predicates happens with
// the ledger's lock held, so whoever sees has_looked() and then changes something finds it asleep.
class Waiter {
 public:
  Waiter(const std::shared_ptr<Ledger>& ledger, int64_t bytes)
      : thread_(*WorkerGroup::Start(1, "waiter", [this, ledger, bytes](int) {
          const auto looked_and_is_exempt = [this] {
            looked_ = true;
            return exempt.load();
          };
          const auto stopped = [this] { return stop.load(); };
          granted_ = ledger->Admit(bytes, looked_and_is_exempt, stopped).granted();
        })) {
    while (!looked_) std::this_thread::yield();
  }
  bool Result() {
    thread_.Join();
    return granted_;
  }

  std::atomic<bool> exempt{false}, stop{false};

 private:
  std::atomic<bool> looked_{false};
  bool granted_ = false;
  WorkerGroup thread_;
};

TEST(Ledger, AReleaseWakesWhoWaitsForIt) {
  const auto ledger = Ledger::Create(100);
  const auto account = ledger->OpenAccount("a");
  account->Charge(100);
  Waiter waiter(ledger, 60);
  account->Release(60);
  EXPECT_TRUE(waiter.Result());
}

TEST(Ledger, AReturnedReservationWakesWhoWaitsForIt) {
  const auto ledger = Ledger::Create(100);
  Ledger::Admission admission = ledger->Admit(100, kNever, kNever);
  Waiter waiter(ledger, 60);
  admission = Ledger::Admission();
  EXPECT_TRUE(waiter.Result());
}

TEST(Ledger, AnAdmissionCanGiveBackAPart) {
  const auto ledger = Ledger::Create(100);
  Ledger::Admission admission = ledger->Admit(100, kNever, kNever);
  Waiter waiter(ledger, 60);
  admission.ShrinkTo(200);  // it never grows
  EXPECT_EQ(ledger->bytes(), 100);
  admission.ShrinkTo(40);
  EXPECT_TRUE(waiter.Result());
  EXPECT_EQ(ledger->bytes(), 40);
}

TEST(Ledger, StoppingEndsTheWaitWithoutAGrant) {
  const auto ledger = Ledger::Create(10);
  Waiter waiter(ledger, 11);
  waiter.stop = true;
  ledger->Recheck();
  EXPECT_FALSE(waiter.Result());
  EXPECT_EQ(ledger->bytes(), 0);
}

TEST(Ledger, RecheckLetsAWaiterPassThatHasBecomeExempt) {
  const auto ledger = Ledger::Create(10);
  Waiter waiter(ledger, 11);
  waiter.exempt = true;
  ledger->Recheck();
  EXPECT_TRUE(waiter.Result());
}

// With a lost wake-up this test would hang.
TEST(Ledger, NoWakeUpIsLostAmongManyThreads) {
  const auto ledger = Ledger::Create(100);
  const auto account = ledger->OpenAccount("a");
  std::atomic<int> passed{0};
  std::atomic<int> waits{0};
  const auto count_wait = [&] {
    ++waits;
    return false;
  };
  {
    WorkerGroup workers = *WorkerGroup::Start(4, "ledger", [&](int) {
      for (int i = 0; i < 2000; ++i) {
        const Ledger::Admission admission = ledger->Admit(60, count_wait, kNever);
        account->Charge(40);
        std::this_thread::yield();  // others run now, and have to wait
        account->Release(40);
        ++passed;
      }
    });
  }
  EXPECT_EQ(passed, 4 * 2000);
  EXPECT_GT(waits, 0);
  EXPECT_EQ(ledger->bytes(), 0);
}

// As a stage's threads do: admission, allocation, hand-over, and the reservation goes.
TEST(Ledger, FastProducersNeverExceedTheBudgetByMoreThanAnElementEach) {
  constexpr int kProducers = 4;
  constexpr int64_t kElement = 64 << 10;
  const auto ledger = Ledger::Create(8 * kElement);
  const auto account = ledger->OpenAccount("decode");
  Mutex mutex;  // guards made, which has no limit of its own: the ledger must hold them back
  CondVar changed;
  std::deque<Buffer> made;
  std::atomic<bool> stopped{false};
  WorkerGroup producers = *WorkerGroup::Start(kProducers, "produce", [&](int) {
    while (true) {
      const auto admission = ledger->Admit(kElement, kNever, [&] { return stopped.load(); });
      if (!admission.granted()) return;
      Buffer buffer = Buffer::Allocate(kElement, account);
      const MutexLock lock(mutex);
      made.push_back(std::move(buffer));
      changed.NotifyOne();
    }
  });
  for (int i = 0; i < 3000; ++i) {
    Buffer taken;
    const MutexLock lock(mutex);
    while (made.empty()) changed.Wait(mutex);
    taken = std::move(made.front());
    made.pop_front();
  }
  stopped = true;
  ledger->Recheck();
  producers.Join();
  EXPECT_GT(ledger->peak_bytes(), kElement);
  EXPECT_LE(ledger->peak_bytes(), ledger->budget_bytes() + kProducers * kElement);
}

TEST(Ledger, AnAccountKeepsItsLedgerAlive) {
  const auto account = Ledger::Create(1)->OpenAccount("a");
  account->Charge(5);
  EXPECT_EQ(account->bytes(), 5);
}

TEST(MemoryBudget, IsAQuarterOfWhatTheMachineAllows) {
  EXPECT_GT(MemoryLimitBytes(), int64_t{16} << 20);
  EXPECT_EQ(DefaultMemoryBudget(), MemoryLimitBytes() / 4);
}

}  // namespace stoker::ledger_test
