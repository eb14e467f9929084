#include "stoker/data/core/kept_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/base/default_budget.h"
#include "stoker/base/per_process.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

// A ledger that is never read: KeptMemory itself charges the budgets.
std::shared_ptr<MemoryAccount> AccountOfItsOwn() {
  static PerProcess<std::shared_ptr<Ledger>> ledgers;
  return ledgers.Get([] { return Ledger::Create(std::numeric_limits<int64_t>::max()); })
      ->OpenAccount("kept");
}

void Charge(MemoryAccount& account, int64_t bytes) {
  if (bytes > 0) account.Charge(bytes);
  if (bytes < 0) account.Release(-bytes);
}

// Small sizes in full, since a budget may be missed by a few bytes.
std::string SizeText(int64_t bytes) {
  if (bytes < 1'000'000) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
}

// Held from the look at a budget until it is charged: of several that would fit alone, as many get
// it as fit together.
Mutex& OneAtATime() {
  static PerProcess<Mutex> mutexes;
  return mutexes.Get();
}

bool Fits(const Ledger& ledger, int64_t bytes) {
  return bytes == 0 || bytes <= ledger.budget_bytes() - ledger.bytes();
}

// Frees the idle memory of the stages of `pass` if `bytes` more do not fit the budget.
void TrimToFit(const Pass& pass, int64_t bytes) {
  if (!Fits(pass.ledger(), bytes)) pass.TrimPools();
}

Status DoesNotFit(const Ledger& ledger, int64_t bytes, std::string_view what,
                  std::string_view remedy) {
  const int64_t used = ledger.bytes();
  return ResourceExhausted("{} {} of memory, but the budget is {}{}; {}, or {}", what,
                           SizeText(bytes), SizeText(ledger.budget_bytes()),
                           used > 0 ? fmt::format(", of which {} are used", SizeText(used)) : "",
                           remedy, HowToRaiseTheBudget());
}

}  // namespace

KeptMemory::KeptMemory() : account_(AccountOfItsOwn()) {}

KeptMemory::~KeptMemory() { Add(-bytes_); }

bool KeptMemory::IsChargedTo(const Pass& pass) {
  // A ledger that has gone may have left its address to another.
  std::erase_if(charged_, [](const Charged& charged) { return charged.account.expired(); });
  return std::ranges::find(charged_, &pass.ledger(), &Charged::ledger) != charged_.end();
}

void KeptMemory::NoteCharged(const Pass& pass, const DatasetNode& node) {
  const Ledger* const ledger = &pass.ledger();
  const std::shared_ptr<MemoryAccount>& account = pass.stage(node).account;
  const bool outlives_passes = ledger == Ledger::Default().get();
  charged_.push_back({ledger, account, outlives_passes ? account : nullptr});
}

void KeptMemory::ChargeTo(const Pass& pass, const DatasetNode& node) {
  const MutexLock lock(mutex_);
  if (IsChargedTo(pass)) return;
  Charge(*pass.stage(node).account, bytes_);
  NoteCharged(pass, node);
}

Status KeptMemory::ChargeToIfItFits(const Pass& pass, const DatasetNode& node,
                                    std::string_view what, std::string_view remedy) {
  const MutexLock fitting(OneAtATime());
  const MutexLock lock(mutex_);
  if (IsChargedTo(pass)) return OkStatus();
  TrimToFit(pass, bytes_);
  if (!Fits(pass.ledger(), bytes_)) return DoesNotFit(pass.ledger(), bytes_, what, remedy);
  Charge(*pass.stage(node).account, bytes_);
  NoteCharged(pass, node);
  return OkStatus();
}

void KeptMemory::Add(int64_t bytes) {
  const MutexLock lock(mutex_);
  bytes_ += bytes;
  for (const Charged& charged : charged_) {
    if (const auto account = charged.account.lock()) Charge(*account, bytes);
  }
}

Status KeptMemory::AddIfItFits(const Pass& pass, int64_t bytes, std::string_view what,
                               std::string_view remedy) {
  const MutexLock fitting(OneAtATime());
  const MutexLock lock(mutex_);
  TrimToFit(pass, bytes);
  std::vector<std::shared_ptr<MemoryAccount>> bearing;
  for (const Charged& charged : charged_) {
    if (std::shared_ptr<MemoryAccount> account = charged.account.lock()) {
      if (!Fits(*charged.ledger, bytes)) return DoesNotFit(*charged.ledger, bytes, what, remedy);
      bearing.push_back(std::move(account));
    }
  }
  for (const auto& account : bearing) Charge(*account, bytes);
  bytes_ += bytes;
  return OkStatus();
}

int64_t KeptMemory::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace stoker
