// How many elements a stage may lose, and who hears of them. What the two ways through a pipeline,
// in order and by position, have in common.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/loss_log.h"

namespace stoker {

class Pass;
struct StageResources;

// What has been lost at one stage in one epoch so far. It is saved with the position of the pass,
// so that limits hold across a resume.
struct FailureCount {
  int64_t seen = 0;  // elements, the failed ones included; where they are counted
  int64_t failed = 0;
  std::string first;  // why the first one failed

  Json ToJson() const;
  static Result<FailureCount> FromJson(const Json& json);
};

// Immutable but for what has been reported; thread-safe.
class FailurePolicy {
 public:
  struct Options {
    std::string verb;              // what happens to them: "skipped", "replaced"
    std::optional<int64_t> limit;  // of an epoch
    double share = 1;              // of the elements; see Allowed
    std::string log;               // path; empty: none
    // Elements of an epoch, where that is known.
    std::optional<int64_t> epoch_elements;
  };
  explicit FailurePolicy(Options options) : options_(std::move(options)) {}

  // To be called when a pass with these logs is opened. Errors: the log cannot be written.
  Status Prepare(LossLogs& logs) const;

  // Adds `failed` to `count`, which has seen it, and a line for the log to the LossScope of this
  // thread, charged to the `stage`. Errors: too many have failed by now (the code of this one),
  // with the figures, the first and the last reason and the place of the log.
  Status Record(const Element& failed, const Pass& pass, const StageResources& stage,
                FailureCount& count) const;

  // The same rule at the end of an epoch of unknown length.
  Status CheckAtEnd(const FailureCount& count) const;

  // Tells the user what an epoch has cost; nothing where that is as much as the last time.
  void Summarize(const FailureCount& count, uint64_t epoch) const;

  // "limit 100, share 0.01, log bad.jsonl"
  std::string Details() const;
  const std::string& verb() const { return options_.verb; }

 private:
  // How many may fail of `elements`: the share rounded up, so that one always may.
  int64_t Allowed(int64_t elements) const;
  Status TooMany(const FailureCount& count, int64_t allowed, const Status* last) const;

  const Options options_;
  mutable std::mutex mutex_;
  mutable int64_t reported_failed_ = 0;  // guarded by mutex_
};

// An element that failed while a stage was read by position, and in whose place the stage gave
// another.
struct LostElement {
  const DatasetNode* stage;
  const FailurePolicy* policy;  // the stage's
  uint64_t epoch;
  Element failed;
};

// One line of the log, without its end: a JSON object with epoch, index (left out where it is not
// known), stage, action (the policy's verb), reason, and file, record and offset where the reason
// names them ("x.gz: byte 12: ...", "x.tar: record 3 (byte 2048): ...", "data/x.jpg: ..."). `pass`:
// LossLogs::pass().
std::string QuarantineLine(const Element& failed, const std::string& verb, const std::string& pass);

}  // namespace stoker
