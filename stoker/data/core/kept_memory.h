// KeptMemory: accounts for memory that a dataset keeps from one pass to the next, such as a cache
// or the values of a compressed file, in the budgets of all passes over it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/mutex.h"
#include "stoker/base/status.h"

namespace stoker {

class DatasetNode;
class Pass;

// Charges the process's budget, which passes without their own share, once and as long as this
// lives; the budget of a single pass until the pass has ended. Thread-safe.
class KeptMemory {
 public:
  KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory();

  // Charges the kept memory to the budget of `pass`, as memory of the stage `node`. Call it when a
  // pass is prepared; a second call for the same budget does nothing.
  void ChargeTo(const Pass& pass, const DatasetNode& node);

  // As ChargeTo, but only if that budget has room for it. See AddIfItFits for `what`, `remedy` and
  // errors.
  Status ChargeToIfItFits(const Pass& pass, const DatasetNode& node, std::string_view what,
                          std::string_view remedy);

  // Adds `bytes`, which may be negative. Never waits and never fails.
  void Add(int64_t bytes);

  // As Add, but only if the budget of `pass`, and every other charged budget, has room for it after
  // the idle memory of the stages of `pass` is freed. Concurrent calls of several threads and
  // datasets succeed only as far as they fit together. `what` names the memory, `remedy` an
  // alternative to raising the budget: "a.gz: the values take", "decompress the file". Errors:
  // kResourceExhausted, with all sizes.
  Status AddIfItFits(const Pass& pass, int64_t bytes, std::string_view what,
                     std::string_view remedy);

  int64_t bytes() const;

  // Returns the account to allocate kept blocks from, so that a block that elements share is not
  // counted twice. It is separate from the budgets: call Add too.
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

 private:
  // Return whether the budget of `pass` is charged, and the entry that charges it.
  bool IsChargedTo(const Pass& pass) STOKER_REQUIRES(mutex_);
  void NoteCharged(const Pass& pass, const DatasetNode& node) STOKER_REQUIRES(mutex_);

  // The charge of the process's budget is held here, so that it can be reversed.
  struct Charged {
    const Ledger* ledger;
    std::weak_ptr<MemoryAccount> account;
    std::shared_ptr<MemoryAccount> held;
  };

  const std::shared_ptr<MemoryAccount> account_;
  mutable Mutex mutex_;
  std::vector<Charged> charged_ STOKER_GUARDED_BY(mutex_);
  int64_t bytes_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
