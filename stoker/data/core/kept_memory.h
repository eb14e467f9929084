// KeptMemory: what a dataset keeps in memory from one pass to the next, such as a cache, the values
// of a compressed file, or decompressed chunks, counted by the budgets of all passes over it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"

namespace stoker {

class DatasetNode;
class Pass;

// The process's budget, which passes without one of their own keep together, is charged once and
// for as long as this lives; that of a single pass until the pass has ended. Thread-safe.
class KeptMemory {
 public:
  KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory();

  // From now on the budget of `pass` bears what is kept, as memory of the stage `node`. Call it
  // when a pass is prepared; the second call for one budget does nothing.
  void ChargeTo(const Pass& pass, const DatasetNode& node);

  // As ChargeTo, for what must be held: only where that budget has room for it (AddIfItFits, for
  // `what` and `remedy` too).
  Status ChargeToIfItFits(const Pass& pass, const DatasetNode& node, std::string_view what,
                          std::string_view remedy);

  // Keeps `bytes` more, or less where negative. Never waits and never fails.
  void Add(int64_t bytes);

  // As Add, but only where the budget of `pass`, and every other one that bears what is kept, has
  // room for as much, now that the idle memory of the stages of `pass` is freed. Of several threads
  // and datasets that ask at once, as many get it as fit together. `what` takes them, `remedy` is
  // what can be done beside raising the budget: "a.gz: the values take", "decompress the file".
  // Errors: kResourceExhausted, with all sizes.
  Status AddIfItFits(const Pass& pass, int64_t bytes, std::string_view what,
                     std::string_view remedy);

  int64_t bytes() const;

  // What blocks that are kept are allocated from, so that nobody counts a part of one again where
  // an element shares it. It is charged beside the budgets: call Add too.
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

 private:
  // With mutex_ held: whether the budget of `pass` bears what is kept, and the entry that makes it.
  bool IsChargedTo(const Pass& pass);
  void NoteCharged(const Pass& pass, const DatasetNode& node);

  // That of the process's budget is held here, so that the charge can be taken back.
  struct Charged {
    const Ledger* ledger;
    std::weak_ptr<MemoryAccount> account;
    std::shared_ptr<MemoryAccount> held;
  };

  const std::shared_ptr<MemoryAccount> account_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Charged> charged_;
  int64_t bytes_ = 0;
};

}  // namespace stoker
