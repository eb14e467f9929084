// Iterator: one pass over a dataset, in order.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "stoker/base/json.h"
#include "stoker/base/profile.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

class DecisionLog;
class Pass;
class StopFlag;

// Used by one thread at a time. Destroying it at any moment stops and joins its threads and frees
// their memory; elements already returned stay valid.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Returns the next element, nothing at the end, or an error. After an error or the end it returns
  // the same again. kCancelled if Runtime::stop is true.
  Result<std::optional<Element>> Next();

  // Returns the next elements, one to `most` (> 0), as rows: for rates of a million and more tiny
  // elements of one shape a second. The number is unspecified. Calls may alternate with those of
  // Next. Errors: also FailedPrecondition if the Spec has unknown extents.
  Result<std::optional<Rows>> NextRows(int64_t most);

  // Returns the position of the pass after the last element that was returned; it contains
  // positions, not elements. Call between two calls of Next. After an error, kCancelled included, a
  // pass by position, or one that ends in a map or a prefetch, can still be saved; any other may
  // have consumed a part of the next element: FailedPrecondition.
  Result<Json> Save() const;

  // Continues where `state` was saved, with any runtime and any number of threads. Call it once,
  // before the first Next. The seed and the pipeline must be those it was saved with:
  // FailedPrecondition for another seed, for a position of a version of Stoker with other orders of
  // shuffles if a stage uses one (DrawsOrder), and for another pipeline if detectable. Costs
  // nothing if the pipeline is read by position; the first Next reads a source that cannot seek
  // again, from the place in its state (a generator: from the epoch's start).
  Status Restore(const Json& state);

  // Returns the counters of all stages of the pass so far.
  virtual Profile GetProfile() const;
  // Returns the runtime's choices so far, and their reasons.
  virtual const DecisionLog& decisions() const;

 protected:
  // Whether this iterator counts elements and busy time for the stage, or another one that it reads
  // through.
  enum class Counting { kHere, kElsewhere };
  Iterator(const OpenContext& context, const DatasetNode& node,
           Counting counting = Counting::kHere);

  virtual Result<std::optional<Element>> DoNext() = 0;
  // The default returns one row, so overriding it is for speed only. Not called if shapes are
  // unknown.
  virtual Result<std::optional<Rows>> DoNextRows(int64_t most);
  virtual Result<Json> DoSave() const = 0;
  virtual Status DoRestore(const Json& state) = 0;

  // Returns how many elements after the restored position to drop (SkipMore), for a DoRestore that
  // drops them itself.
  int64_t TakeSkip() { return std::exchange(skip_, 0); }

  // Returns Cancelled if this part of the pass is to end. Next calls it; a DoNext that loops
  // without calling another Next must call it in its loop.
  Status CheckStop() const;

  Pass& pass() const { return *pass_; }
  StageStats& stats() const { return stats_; }

 private:
  friend class Dataset;
  template <typename T, typename Make>
  Result<std::optional<T>> Guarded(const Make& make);
  template <typename T, typename Make>
  Result<std::optional<T>> MakeOutermost(const Make& make);
  Result<bool> Skip();
  Result<std::optional<Element>> NextOrSkipped();
  Result<std::optional<Element>> CountedNext();

  std::shared_ptr<Pass> pass_;
  std::shared_ptr<const StopFlag> stop_;
  StageStats& stats_;
  const Spec& spec_;
  const Counting counting_;
  const bool tolerant_;      // returns failed elements
  bool outermost_ = false;   // returned by Dataset::Open: its state holds the pass's seed
  bool keeps_logs_ = false;  // its state holds the sizes of the logs; false for a rank of several
  int64_t skip_ = 0;         // elements to drop before the first one returned
  bool started_ = false;
  bool ended_ = false;
  Status error_;
  bool broken_off_ = false;  // DoNext failed, and may have consumed input
};

// Advances `state`, which an iterator saved, by `elements` elements: an iterator that restores it
// makes these again and drops them.
void SkipMore(int64_t elements, Json& state);

// Helpers for DoRestore: a member of a saved state, or an error that says what is missing.
Result<int64_t> SavedInteger(const Json& state, const char* key);
Result<Json> SavedObject(const Json& state, const char* key);

// For a stage whose state is a few members of its own and, as "input", that of its one input: the
// first adds the latter to `state`, the second restores it from there.
Result<Json> WithInputState(Json state, const Iterator& input);
Status RestoreInput(const Json& state, Iterator& input);

}  // namespace stoker
