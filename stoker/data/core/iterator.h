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
// what they hold; elements already handed out stay valid.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // The next element, nothing at the end, or an error. After an error or the end the same comes
  // again. kCancelled where Runtime::stop is true.
  Result<std::optional<Element>> Next();

  // The next elements, one to `most` (> 0) of them, as rows: for tiny elements of one shape, of
  // which a million and more in a second are wanted. How many come at once is the runtime's choice.
  // Calls may alternate with those of Next. Errors: also FailedPrecondition where the Spec has
  // extents that are not known.
  Result<std::optional<Rows>> NextRows(int64_t most);

  // Where the pass stands: positions, not elements (design, invariant 2). The elements handed out
  // so far are done, the ones prefetched are not. Call between two calls of Next. After an error,
  // kCancelled included, a pass by position, or one that ends in a map or a prefetch, still stands
  // after its last element; any other may have used up a part of the next: FailedPrecondition.
  Result<Json> Save() const;

  // Continues where `state` was saved, under any runtime and any number of threads. Once, and only
  // before the first Next. The seed and the pipeline must be those it was saved with:
  // FailedPrecondition for another seed, for a position of a version of Stoker that shuffles in
  // other orders where a stage does (DrawsOrder), and for another pipeline where that can be told.
  // Costs nothing where the pipeline is read by position; a source that cannot seek is read again
  // by the first Next, from where its state says (a generator: from the epoch's start).
  Status Restore(const Json& state);

  // What the stages of the whole pass have counted so far.
  virtual Profile GetProfile() const;
  // What the runtime has chosen so far, and why.
  virtual const DecisionLog& decisions() const;

 protected:
  // Who counts elements and busy time for the stage: this iterator, or whatever it reads through.
  enum class Counting { kHere, kElsewhere };
  Iterator(const OpenContext& context, const DatasetNode& node,
           Counting counting = Counting::kHere);

  virtual Result<std::optional<Element>> DoNext() = 0;
  // The default gives one row, so overriding it is for speed only. Not called where shapes are
  // unknown.
  virtual Result<std::optional<Rows>> DoNextRows(int64_t most);
  virtual Result<Json> DoSave() const = 0;
  virtual Status DoRestore(const Json& state) = 0;

  // How many elements behind the restored position are to be dropped (SkipMore), for a DoRestore
  // that sees to it itself.
  int64_t TakeSkip() { return std::exchange(skip_, 0); }

  // Cancelled where this part of the pass is to end. Next asks on its own; a DoNext that loops
  // without calling another Next asks in its loop.
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
  const bool tolerant_;      // hands out failed elements
  bool outermost_ = false;   // the one that Dataset::Open gave: its state holds the pass's seed
  bool keeps_logs_ = false;  // its state holds how far the logs are written; not of one of ranks
  int64_t skip_ = 0;         // elements to drop before the first that is handed out
  bool started_ = false;
  bool ended_ = false;
  Status error_;
  bool broken_off_ = false;  // DoNext failed, and may have taken from its input before
};

// Makes `state`, which an iterator saved, that of `elements` elements later: whoever restores it
// makes them again and drops them.
void SkipMore(int64_t elements, Json& state);

// Helpers for DoRestore: a member of a saved state, or an error that says what is missing.
Result<int64_t> SavedInteger(const Json& state, const char* key);
Result<Json> SavedObject(const Json& state, const char* key);

// For a stage whose state is a few members of its own and, as "input", that of its one input: adds
// the latter to `state`, and restores it from there.
Result<Json> WithInputState(Json state, const Iterator& input);
Status RestoreInput(const Json& state, Iterator& input);

}  // namespace stoker
