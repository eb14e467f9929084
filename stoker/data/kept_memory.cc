#include "stoker/data/kept_memory.h"

#include <limits>
#include <utility>

#include "stoker/base/default_budget.h"
#include "stoker/data/dataset.h"
#include "stoker/data/runtime.h"

namespace stoker {
namespace {

// A ledger that nobody reads: the budgets are charged by KeptMemory itself.
std::shared_ptr<MemoryAccount> AccountOfItsOwn() {
  static const std::shared_ptr<Ledger> ledger = Ledger::Create(std::numeric_limits<int64_t>::max());
  return ledger->OpenAccount("kept");
}

void Charge(MemoryAccount& account, int64_t bytes) {
  if (bytes > 0) account.Charge(bytes);
  if (bytes < 0) account.Release(-bytes);
}

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

}  // namespace

KeptMemory::KeptMemory() : account_(AccountOfItsOwn()) {}

KeptMemory::~KeptMemory() { Add(-bytes_); }

void KeptMemory::ChargeTo(const Pass& pass, const DatasetNode& node) {
  const Ledger* const ledger = &pass.ledger();
  const std::lock_guard lock(mutex_);
  // A ledger that has gone may have left its address to another.
  std::erase_if(charged_, [](const Charged& charged) { return charged.account.expired(); });
  for (const Charged& charged : charged_) {
    if (charged.ledger == ledger) return;
  }
  const std::shared_ptr<MemoryAccount>& account = pass.stage(node).account;
  const bool outlives_passes = ledger == Ledger::Default().get();
  charged_.push_back({ledger, account, outlives_passes ? account : nullptr});
  Charge(*account, bytes_);
}

void KeptMemory::Add(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  for (const Charged& charged : charged_) {
    if (const auto account = charged.account.lock()) Charge(*account, bytes);
  }
}

Status KeptMemory::AddIfItFits(const Pass& pass, int64_t bytes, std::string_view what,
                               std::string_view remedy) {
  const Ledger& ledger = pass.ledger();
  if (bytes > ledger.budget_bytes() - ledger.bytes()) pass.TrimPools();
  const int64_t used = ledger.bytes();
  if (bytes > ledger.budget_bytes() - used) {
    return ResourceExhausted(
        "{} {:.1f} MB of memory, but the budget is {:.1f} MB{}; {}, or {}", what, Megabytes(bytes),
        Megabytes(ledger.budget_bytes()),
        used > 0 ? fmt::format(", of which {:.1f} MB are used", Megabytes(used)) : "", remedy,
        HowToRaiseTheBudget());
  }
  Add(bytes);
  return OkStatus();
}

int64_t KeptMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace stoker
