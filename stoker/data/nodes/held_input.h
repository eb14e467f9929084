// The input of a stage that holds some of its elements between calls: shuffle buffers, windows,
// buckets, elements that are handed out in pieces.
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
  // The numbers of the elements that are held follow, in the order in which the stage names them,
  // from what it saves by itself; they are then left out of the state.
  bool numbers_known = false;
  // Elements are held while many others pass. One that came as a small part of something larger,
  // such as a chunk, keeps all of that alive; so its arrays are copied, unless memory is plentiful.
  bool for_long = true;
};

// Pulls the input, and saves and restores where it stands together with the elements that are held,
// without their bytes:
//   * where the input can make elements again from their keys (DatasetNode::rereadable): their
//     keys, about 2 to 8 bytes each. Restoring makes those elements again, and no others;
//   * else: their numbers, and a state of the input from before the oldest. Restoring reads on from
//     there: what lies between the oldest and the newest, and what came before the oldest since a
//     state was saved (at most a fraction of as many as are held, or what SnapshotPace says).
//
// From Next or Recover until Release an element is held, and counts against the memory budget with
// what it takes beside its values, also where it came charged to nobody. Used by one thread at a
// time, as its iterator is.
class HeldInput {
 public:
  // Says what the stage holds now.
  using Held = std::function<std::vector<const HeldElement*>()>;

  // `node` is the stage; `input` an iterator over its input. `held` is called by Next and Save.
  HeldInput(const OpenContext& context, const DatasetNode& node, std::unique_ptr<Iterator> input,
            Held held, const HeldInputOptions& options = {});

  ~HeldInput();

  // Puts the next element into `next`; false at the end.
  Result<bool> Next(HeldElement& next);
  // The element, which is held no longer.
  Element Release(HeldElement held);
  // How many elements have been pulled: all that follow have this number or a larger one.
  int64_t pulled() const { return restored_ ? restored_->pulled : pulled_; }

  // What all elements that are held take: BytesOf each.
  int64_t held_bytes() const { return held_bytes_; }
  // The bytes of an element's values, and what it takes beside them, about. Of tiny elements that
  // is most of it.
  static int64_t BytesOf(const Element& element);
  // What an element of `spec` takes beside its values.
  static int64_t BytesAround(const Spec& spec);
  // At most so many bytes are asked for to hold `count` elements more, for long.
  static std::optional<int64_t> BytesToHold(const Spec& spec, int64_t count);

  // The state, with all that is held now. Not between Restore and Recover.
  Result<Json> Save() const;
  // Before the first Next. `state` is what Save gave.
  Status Restore(const Json& state);
  // After Restore, before the first Next: reads again what was held, and comes to where the pass
  // stood. Nothing where the pass begins. The elements come by rising number, or, where the stage
  // knows the numbers and gives them here, in their order.
  Result<std::vector<HeldElement>> Recover(std::vector<int64_t> numbers = {});

 private:
  struct Snapshot {
    int64_t pulled;  // elements pulled before it
    Json input;
  };
  // What a state says, until it has been gone back to.
  struct Restored {
    int64_t pulled = 0;
    int64_t held = 0;
    std::vector<int64_t> numbers;  // of the elements held
    std::vector<SampleKey> keys;   // of the same, where the input is rereadable
  };

  void Hold(Element element, int64_t number, HeldElement& held);
  // Counts it among what is held, or (-1) no longer.
  void Count(const Element& element, int sign);
  void ChargeAround();
  void CopySmallParts(Element& element);
  Result<bool> Pull(HeldElement& next);
  std::vector<int64_t> NumbersHeld() const;
  bool SnapshotIsDue();
  Status TakeSnapshot();
  void PruneSnapshots();
  // The newest of snapshots_ that is not newer than element `number`.
  size_t SnapshotBefore(int64_t number) const;
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
  int64_t charged_ = 0;         // to the stage, for what came charged to nobody
  int64_t around_ = 0;          // of held_bytes_, what is beside the values,
  int64_t charged_around_ = 0;  // and what of that is charged to the stage
  int64_t pulled_ = 0;
  Buffer copies_;           // where the next copies go,
  size_t copies_used_ = 0;  // behind so many bytes of it
  // Oldest first; the first is not newer than any element held. Empty where elements are made again
  // from their keys.
  std::vector<Snapshot> snapshots_;
  SnapshotPace pace_ = SnapshotPace::Sparing();
  int64_t least_interval_ = 0;  // elements from the last to the next
  size_t prune_at_ = 0;         // as many as that are looked through
  std::optional<Restored> restored_;
};

}  // namespace stoker
