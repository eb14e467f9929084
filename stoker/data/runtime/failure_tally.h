// Counts the losses of stages read by position in the order of the pass.
#pragma once

#include <map>
#include <span>
#include <utility>

#include "stoker/data/core/failure_policy.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Threads read elements in any order, and read some twice. So losses are attached to the next
// element (ReadContext::lost), and counted, logged and checked against the limits when the pass
// returns that element: in the same order with every runtime. One thread at a time.
class FailureTally {
 public:
  explicit FailureTally(const Pass& pass) : pass_(pass), logged_(pass.loss_logs().Writes()) {}
  // Reports what has not been reported yet, unless the error of Add has said it.
  ~FailureTally();
  FailureTally(const FailureTally&) = delete;
  FailureTally& operator=(const FailureTally&) = delete;

  // Counts the losses before the element that is returned next. Errors: a limit is exceeded; then
  // nothing is counted.
  Status Add(std::span<const LostElement> lost);

  // Adds the counts, if any, to the saved state of the pass.
  void SaveTo(Json& state) const;
  Status RestoreFrom(const Json& state);

 private:
  struct Entry {
    FailureCount count;
    const FailurePolicy* policy = nullptr;  // null: restored, and nothing lost since
  };
  using Key = std::pair<uint64_t, uint64_t>;  // stage number, epoch

  // Reports and drops the earlier epochs of a stage.
  void DropOldEpochs(uint64_t stage);

  const Pass& pass_;
  const bool logged_;      // whether lines are written to logs
  bool exceeded_ = false;  // Add has failed
  std::map<Key, Entry> counts_;
};

}  // namespace stoker
