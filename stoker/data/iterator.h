// Iterator: one pass over a dataset, in order.
#pragma once

#include <memory>
#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/profile.h"
#include "stoker/data/dataset.h"

namespace stoker {

class Pass;

// Used by one thread at a time. Destroying it at any moment stops and joins its threads and frees
// what they hold; elements already handed out stay valid.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // The next element, nothing at the end, or an error. After an error or the end the same comes
  // again.
  Result<std::optional<Element>> Next();

  // Where the pass stands: positions, not elements (design, invariant 2). The elements handed out
  // so far are done, the ones prefetched are not. Call between two calls of Next.
  Result<Json> Save() const { return DoSave(); }

  // Continues where `state` was saved, under any runtime and any number of threads. Only before the
  // first Next. The seed and the pipeline must be those it was saved with: FailedPrecondition where
  // that can be told.
  Status Restore(const Json& state);

  // What the stages of the whole pass have counted so far.
  Profile GetProfile() const;

 protected:
  // Who counts elements and busy time for the node's stage: this iterator, or whatever it reads
  // through.
  enum class Counting { kHere, kElsewhere };
  Iterator(const OpenContext& context, const DatasetNode& node,
           Counting counting = Counting::kHere);

  virtual Result<std::optional<Element>> DoNext() = 0;
  virtual Result<Json> DoSave() const = 0;
  virtual Status DoRestore(const Json& state) = 0;

  Pass& pass() const { return *pass_; }
  StageStats& stats() const { return stats_; }

 private:
  Result<std::optional<Element>> CountedNext();

  std::shared_ptr<Pass> pass_;
  StageStats& stats_;
  const Counting counting_;
  bool started_ = false;
  bool ended_ = false;
  Status error_;
};

// Helpers for DoRestore: a member of a saved state, or an error that says what is missing.
Result<int64_t> SavedInteger(const Json& state, const char* key);
Result<Json> SavedObject(const Json& state, const char* key);

}  // namespace stoker
