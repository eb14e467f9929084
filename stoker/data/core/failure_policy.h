// Limits and reports of lost elements, shared by reads in order and by position.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/loss_log.h"

namespace stoker {

class Pass;
struct StageResources;

// The losses of one stage in one epoch so far. Saved with the position of the pass, so that limits
// hold across a resume.
struct FailureCount {
  int64_t seen = 0;  // elements, the failed ones included; if they are counted
  int64_t failed = 0;
  std::string first;  // why the first one failed

  Json ToJson() const;
  static Result<FailureCount> FromJson(const Json& json);
};

// Returns whether `status` says that more elements failed than a policy allows.
bool IsTooManyFailures(const Status& status);

// Immutable except for what has been reported; thread-safe.
class FailurePolicy {
 public:
  struct Options {
    std::string verb;              // "skipped" or "replaced"
    std::optional<int64_t> limit;  // of an epoch
    double share = 1;              // of the elements; see Allowed
    std::string log;               // path; empty: none
    // Elements of an epoch, if known.
    std::optional<int64_t> epoch_elements;
  };
  explicit FailurePolicy(Options options) : options_(std::move(options)) {}

  // Call it when a pass with these logs is opened. Errors: the log cannot be written.
  Status Prepare(LossLogs& logs) const;

  // Adds `failed` to `count`, whose `seen` includes it, and a line for the log to the LossScope of
  // this thread; counts it for `stage`. Errors: too many have failed (the code of this one), with
  // the numbers, the first and the last reason and the path of the log.
  Status Record(const Element& failed, const Pass& pass, const StageResources& stage,
                FailureCount& count) const;

  // Applies the same rule at the end of an epoch of unknown length. `logs`: the pass's.
  Status CheckAtEnd(const FailureCount& count, const LossLogs& logs) const;

  // Reports the losses of an epoch to the user, unless they are the same as last time. `logged`:
  // whether the logs of the pass are written.
  void Summarize(const FailureCount& count, uint64_t epoch, bool logged) const;

  // "limit 100, share 0.01, log bad.jsonl"
  std::string Details() const;
  const std::string& verb() const { return options_.verb; }

 private:
  // Returns how many of `elements` may fail: the share rounded up, so at least one.
  int64_t Allowed(int64_t elements) const;
  Status TooMany(const FailureCount& count, int64_t allowed, const Status* last, bool logged) const;
  // Returns where the user finds all reasons. REQUIRES: a log is named.
  std::string WhereAllAre(bool logged) const;

  const Options options_;
  mutable Mutex mutex_;
  mutable int64_t reported_failed_ STOKER_GUARDED_BY(mutex_) = 0;
};

// An element that failed while a stage was read by position, and that the stage replaced.
struct LostElement {
  const DatasetNode* stage;
  const FailurePolicy* policy;  // the stage's
  uint64_t epoch;
  Element failed;
};

// One line of the log, without its end: a JSON object with epoch, index (if known), stage, action
// (the policy's verb), reason, and file, record or row, and offset if the reason names them ("x.gz:
// byte 12: ...", "x.tar: record 3 (byte 2048): ...", "data/x.jpg: ..."). `pass`: LossLogs::pass().
std::string QuarantineLine(const Element& failed, const std::string& verb, const std::string& pass);

}  // namespace stoker
