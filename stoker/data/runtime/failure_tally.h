// What stages read by position have lost, counted in the order of the pass.
#pragma once

#include <map>
#include <span>
#include <utility>

#include "stoker/data/core/failure_policy.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Threads read elements in any order, and read some twice. So what was lost on the way to an
// element travels beside it (ReadContext::lost) and is counted, logged and held against the limits
// when the element is handed out: in the same order under every runtime. One thread at a time.
class FailureTally {
 public:
  explicit FailureTally(const Pass& pass) : pass_(pass) {}
  ~FailureTally();  // tells the user what has not been told yet
  FailureTally(const FailureTally&) = delete;
  FailureTally& operator=(const FailureTally&) = delete;

  // Counts what was lost on the way to the element that is handed out next. Errors: a limit is
  // exceeded, and nothing has been counted.
  Status Add(std::span<const LostElement> lost);

  // Adds the counts to the saved state of the pass, where there are any.
  void SaveTo(Json& state) const;
  Status RestoreFrom(const Json& state);

 private:
  struct Entry {
    FailureCount count;
    const FailurePolicy* policy = nullptr;  // null: restored, and nothing lost since
  };
  using Key = std::pair<uint64_t, uint64_t>;  // stage number, epoch

  // An epoch of a stage that has gone on to later ones is told and forgotten.
  void DropOldEpochs(uint64_t stage);

  const Pass& pass_;
  std::map<Key, Entry> counts_;
};

}  // namespace stoker
