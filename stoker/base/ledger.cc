#include "stoker/base/ledger.h"

#include <algorithm>

#include "stoker/base/control_group.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/per_process.h"

namespace stoker {
namespace {

void RaiseTo(std::atomic<int64_t>& peak, int64_t value) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

std::atomic<int64_t> wanted_budget{0};  // of Ledger::Default(); 0: not set
std::atomic<bool> budget_is_set{false};

std::string& HowToRaise() {
  static std::string how = "set Runtime::memory_budget higher";
  return how;
}

constexpr std::string_view kRaise = "raise the budget (";

}  // namespace

MemoryAccount::MemoryAccount(std::shared_ptr<Ledger> ledger, std::string stage,
                             std::shared_ptr<MemoryAccount> whole)
    : ledger_(std::move(ledger)), stage_(std::move(stage)), whole_(std::move(whole)) {}

void MemoryAccount::Count(int64_t bytes) {
  RaiseTo(peak_bytes_, bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

bool MemoryAccount::HasRoomFor(int64_t bytes) const {
  return ledger_->bytes() + bytes <= ledger_->budget_bytes();
}

void MemoryAccount::Charge(int64_t bytes) {
  Count(bytes);
  if (whole_) whole_->Count(bytes);
  ledger_->Charge(bytes);
}

void MemoryAccount::Release(int64_t bytes) {
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (whole_) whole_->bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  ledger_->Release(bytes);
}

Ledger::Admission& Ledger::Admission::operator=(Admission&& other) noexcept {
  if (this == &other) return *this;
  Return();
  ledger_ = std::move(other.ledger_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void Ledger::Admission::ShrinkTo(int64_t bytes) {
  if (ledger_ == nullptr || bytes >= bytes_) return;
  ledger_->reserved_.fetch_sub(bytes_ - bytes);
  bytes_ = bytes;
  ledger_->WakeWaiters();
}

void Ledger::Admission::Return() {
  if (ledger_ == nullptr) return;
  ledger_->reserved_.fetch_sub(bytes_);
  ledger_->WakeWaiters();
  ledger_ = nullptr;
}

std::shared_ptr<Ledger> Ledger::Create(int64_t budget_bytes) {
  return std::shared_ptr<Ledger>(new Ledger(budget_bytes));
}

const std::shared_ptr<Ledger>& Ledger::Default() {
  static PerProcess<std::shared_ptr<Ledger>> ledgers;
  return ledgers.Get([] { return Create(DefaultBudget()); });
}

// Setting the budget brings the ledger into use, so what is wanted is what it has.
int64_t DefaultBudget() {
  const int64_t wanted = wanted_budget;
  return wanted > 0 ? wanted : DefaultMemoryBudget();
}

bool WishForDefaultBudget(int64_t bytes) {
  if (budget_is_set) return true;
  int64_t nothing = 0;
  wanted_budget.compare_exchange_strong(nothing, bytes);
  return Ledger::Default()->budget_bytes() == bytes;
}

Status SetDefaultBudget(int64_t bytes) {
  budget_is_set = true;
  wanted_budget = bytes;
  const int64_t kept = Ledger::Default()->budget_bytes();
  if (kept == bytes) return OkStatus();
  return FailedPrecondition(
      "the memory budget of the process is {} bytes, and in use; it cannot become {}", kept, bytes);
}

const std::string& HowToRaiseTheBudget() { return HowToRaise(); }

void SetHowToRaiseTheBudget(std::string how) { HowToRaise() = std::move(how); }

void AddWayToRaiseTheBudget(const std::string& setting) {
  std::string& how = HowToRaise();
  if (!how.starts_with(kRaise)) how = std::string(kRaise) + setting + ")";
  if (how.find(setting) != std::string::npos) return;
  how.pop_back();
  how += ", or " + setting + ")";
}

std::shared_ptr<MemoryAccount> Ledger::OpenAccount(std::string stage,
                                                   std::shared_ptr<MemoryAccount> whole) {
  return std::make_shared<MemoryAccount>(shared_from_this(), std::move(stage), std::move(whole));
}

void Ledger::Charge(int64_t bytes) { RaiseTo(peak_bytes_, charged_.fetch_add(bytes) + bytes); }

// No wake-up is lost. In the one order of all sequentially consistent operations, either the
// waiter's increment of waiting_ comes before the load here, and it is woken; or the subtraction
// comes before the waiter's increment, and so before its look at charged_. The mutex makes the
// waker wait until a waiter that found no room sleeps.
void Ledger::Release(int64_t bytes) {
  charged_.fetch_sub(bytes);
  WakeWaiters();
}

void Ledger::WakeWaiters() {
  if (waiting_.load() == 0) return;
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
}

bool Ledger::TryReserve(int64_t bytes) {
  int64_t reserved = reserved_.load();
  do {
    if (charged_.load() + reserved + bytes > budget_bytes_) return false;
  } while (!reserved_.compare_exchange_weak(reserved, reserved + bytes));
  return true;
}

Ledger::Admission Ledger::Admit(int64_t bytes, const std::function<bool()>& exempt,
                                const std::function<bool()>& stop) {
  if (TryReserve(bytes)) return {shared_from_this(), bytes};
  const MutexLock lock(mutex_);
  waiting_.fetch_add(1);
  bool granted = false;
  changed_.Wait(mutex_, [&] {
    granted = TryReserve(bytes);
    if (granted) return true;
    if (stop()) return true;
    granted = exempt();
    if (granted) reserved_.fetch_add(bytes);
    return granted;
  });
  waiting_.fetch_sub(1);
  return granted ? Admission(shared_from_this(), bytes) : Admission();
}

void Ledger::Recheck() { WakeWaiters(); }

int64_t MemoryLimitBytes() {
  static PerProcess<int64_t> limit;
  return limit.Get([] {
    const int64_t machine = MachineMemoryBytes();
    return std::min(machine, ReadControlGroupLimits().memory_bytes.value_or(machine));
  });
}

int64_t DefaultMemoryBudget() { return std::max<int64_t>(1, MemoryLimitBytes() / 4); }

}  // namespace stoker
