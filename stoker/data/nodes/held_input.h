// The input of a stage that holds some of its elements between calls: shuffle buffers, windows,
// buckets, elements that are output in pieces.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

// An element and its number in the input, from 0 in each pass.
struct HeldElement {
  Element element;
  int64_t number = 0;
};

struct HeldInputOptions {
  // The stage can derive the numbers of the held elements, in its order, from its own state; they
  // are then left out of the saved state.
  bool numbers_known = false;
  // Elements are held while many others pass. One that shares the memory of a larger block keeps
  // all of it alive, so its arrays are copied, unless memory is plentiful.
  bool for_long = true;
};

// Pulls the input, and saves and restores its position together with the held elements, without
// their bytes:
//   * if the input can make elements again from their keys (DatasetNode::rereadable): their keys,
//     about 2 to 8 bytes each. Restoring makes only those elements again;
//   * else: their numbers, and a state of the input from before the oldest. Restoring reads from
//     there: the elements from the oldest to the newest, and those between the saved state and the
//     oldest (at most a fraction of the number held, or what SnapshotPace says).
//
// An element is held from Next or Recover until Release. It counts against the memory budget, with
// its overhead, even if its memory is charged to no account. One thread at a time, like its
// iterator.
class HeldInput {
 public:
  // Returns the elements that the stage holds now.
  using Held = std::function<std::vector<const HeldElement*>()>;

  // `node` is the stage; `input` an iterator over its input. `held` is called by Next and Save.
  HeldInput(const OpenContext& context, const DatasetNode& node, std::unique_ptr<Iterator> input,
            Held held, const HeldInputOptions& options = {});

  ~HeldInput();

  // Writes the next element to `next`; returns false at the end.
  Result<bool> Next(HeldElement& next);
  // Releases an element and returns it.
  Element Release(HeldElement held);
  // Returns how many elements have been pulled; the next element has this number.
  int64_t pulled() const { return restored_ ? restored_->pulled : pulled_; }

  // Returns the sum of BytesOf of all held elements.
  int64_t held_bytes() const { return held_bytes_; }
  // Returns the approximate bytes of an element: its values and its overhead, which is the larger
  // part for tiny elements.
  static int64_t BytesOf(const Element& element);
  // Returns the overhead of an element of `spec` beside its values.
  static int64_t BytesAround(const Spec& spec);
  // Returns an upper bound of the bytes that holding `count` more elements for long takes.
  static std::optional<int64_t> BytesToHold(const Spec& spec, int64_t count);

  // Returns `own`, the state of the stage itself, with that of all elements held now. Between
  // Restore and Recover it returns the restored state.
  Result<Json> Save(Json own) const;
  // Call before the first Next. `state` is a result of Save.
  Status Restore(const Json& state);
  // Returns whether Recover must be called before Next.
  bool must_recover() const { return !state_to_recover_.is_null(); }
  // Call after Restore and before the first Next: reads the held elements again and moves to the
  // position of the pass. Returns nothing at the beginning of a pass. The elements come by
  // ascending number, or in the order of `numbers` if the stage knows and passes them.
  Result<std::vector<HeldElement>> Recover(std::vector<int64_t> numbers = {});

 private:
  struct Snapshot {
    int64_t pulled;  // elements pulled before it
    Json input;
  };
  // The content of a restored state, until Recover.
  struct Restored {
    int64_t pulled = 0;
    int64_t held = 0;
    std::vector<int64_t> numbers;  // of the elements held
    std::vector<SampleKey> keys;   // of the same, if the input is rereadable
  };

  void Hold(Element element, int64_t number, HeldElement& held);
  // Adds it to the held elements (1), or removes it (-1).
  void Count(const Element& element, int sign);
  void ChargeAround();
  void CopySmallParts(Element& element);
  Result<bool> Pull(HeldElement& next);
  std::vector<int64_t> NumbersHeld() const;
  bool SnapshotIsDue();
  Status TakeSnapshot();
  void PruneSnapshots();
  // Returns the newest of snapshots_ that is not newer than element `number`.
  size_t SnapshotBefore(int64_t number) const;
  Result<Json> SaveHeld() const;
  Status RestoreHeld(const Json& elements);
  Status CheckNumbers() const;
  Result<std::vector<HeldElement>> RecoverByKey();
  Result<std::vector<HeldElement>> RecoverInOrder();

  const OpenContext context_;
  const DatasetNode& node_;
  StageResources& stage_;
  const bool by_key_;
  const std::unique_ptr<Iterator> input_;
  const Held held_;
  const HeldInputOptions options_;
  int64_t held_count_ = 0;
  int64_t held_bytes_ = 0;
  int64_t charged_ = 0;         // to the stage, for memory charged to no account
  int64_t around_ = 0;          // the overhead in held_bytes_
  int64_t charged_around_ = 0;  // the part of it charged to the stage
  int64_t pulled_ = 0;
  Buffer copies_;           // receives the next copies
  size_t copies_used_ = 0;  // bytes of it in use
  // Oldest first; the first is not newer than any held element. Empty if elements are made again
  // from their keys.
  std::vector<Snapshot> snapshots_;
  SnapshotPace pace_ = SnapshotPace::Sparing();
  int64_t least_interval_ = 0;  // elements from the last to the next
  size_t prune_at_ = 0;         // prune when there are so many
  std::optional<Restored> restored_;
  Json state_to_recover_;  // of the stage, until what it held has been read
};

}  // namespace stoker
