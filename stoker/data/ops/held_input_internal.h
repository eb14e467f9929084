// The input of a stage that holds some of its elements between calls: windows, buckets, elements
// that are handed out in pieces.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"

namespace stoker {

// Memory that an account counts for as long as this lives: for arrays that came charged to nobody.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(std::shared_ptr<MemoryAccount> account, int64_t bytes);
  MemoryCharge(MemoryCharge&& other) noexcept;
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge();

 private:
  std::shared_ptr<MemoryAccount> account_;
  int64_t bytes_ = 0;
};

// An element and its number in the input, from 0 in each pass. While it is held it counts against
// the memory budget.
struct HeldElement {
  Element element;
  int64_t number = 0;
  MemoryCharge charge;
};

// Pulls the input, and saves and restores where it stands together with the elements that are held,
// without their bytes:
//   * where the input can make elements again from their keys (DatasetNode::rereadable): their
//     keys, about 2 to 8 bytes each. Restoring makes those elements again, and no others;
//   * else: their numbers, and a state of the input from before the oldest. Restoring reads on from
//     there, at most kSnapshotInterval elements more than lie between the oldest and the newest.
//
// Used by one thread at a time, as its iterator is.
class HeldInput {
 public:
  // `node` is the stage; `input` an iterator over its input.
  HeldInput(const OpenContext& context, const DatasetNode& node, std::unique_ptr<Iterator> input);

  // The next element, or nothing at the end.
  Result<std::optional<HeldElement>> Next();
  // How many elements have been pulled: all that follow have this number or a larger one.
  int64_t pulled() const { return pulled_; }
  // Says what is held now, besides what Next will give: states of the input that only served others
  // are freed. To be called whenever elements have been let go.
  void KeepOnly(std::span<const HeldElement* const> held);

  // The state, while `held` are held; their order does not matter.
  Result<Json> Save(std::span<const HeldElement* const> held) const;
  // Before the first Next. `state` is what Save gave.
  Status Restore(const Json& state);
  // After Restore, before the first Next: reads again what was held, by rising number, and comes to
  // where the pass stood. Nothing where the pass begins.
  Result<std::vector<HeldElement>> Recover();

 private:
  struct Snapshot {
    int64_t pulled;  // elements pulled before it
    Json input;
  };

  // The newest of snapshots_ that is not newer than element `number`.
  size_t SnapshotBefore(int64_t number) const;
  HeldElement Hold(Element element, int64_t number) const;
  Status SaveInputIfDue();
  Result<std::vector<HeldElement>> RecoverByKey();
  Result<std::vector<HeldElement>> RecoverInOrder();

  const OpenContext context_;
  const DatasetNode& node_;
  const bool by_key_;
  const std::unique_ptr<Iterator> input_;
  int64_t pulled_ = 0;
  std::vector<Snapshot> snapshots_;  // oldest first; the first is not newer than any element held

  // Between Restore and Recover: the numbers of the elements that were held, rising, their keys
  // where the input is rereadable, and how many had been pulled.
  std::vector<int64_t> wanted_;
  std::vector<SampleKey> wanted_keys_;
  int64_t stood_at_ = 0;
};

}  // namespace stoker
