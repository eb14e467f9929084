// Shared by balance and sample: a dataset of elements of its input, drawn by position after reading
// a property of all of them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "stoker/base/mutex.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/drawn_order.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/ops/read_anywhere_internal.h"

namespace stoker {

// Returns how many elements an epoch draws from `input`: `count`, or as many as it has. Errors,
// which begin with `who`: it cannot be read by position, is endless, or is empty.
Result<int64_t> CountDraws(std::string_view who, const Dataset& input,
                           const std::optional<int64_t>& count);

// Implement Learn and FindSources.
class DrawnNode : public DatasetNode, public SampleNames, public DrawnOrder {
 public:
  DrawnNode(std::string_view name, Dataset input, int64_t count, std::optional<int64_t> seed)
      : DatasetNode(std::string(name), input.spec(), Cardinality::Of(count), {input}),
        seed_(seed) {}

  std::string_view Disturbs() const override { return "draws elements at random"; }
  bool random() const override { return true; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MemoryToReadAnywhere(input().node(), count);
  }
  Status Prepare(const OpenContext& context) const override;
  bool random_access() const override { return true; }
  // Returns the key of an element is its position here.
  bool rereadable() const override { return true; }
  std::string NameOf(int64_t /*index*/, std::string_view /*field*/) const override { return ""; }
  // Known if the input is a source, or maps over one, and all passes over this node had the same
  // seed.
  std::string NameOfKey(const SampleKey& key, std::string_view field) const override;
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("{}: is read by position", name());
  }

 protected:
  // The key of the draws of one epoch.
  struct Key {
    uint64_t seed, epoch, stage;
  };

  // Called once before anything is read, and again after an error; writes its result to mutable
  // members. Ends with kCancelled if `context` says stop.
  virtual Status Learn(const OpenContext& context) const = 0;
  // Replaces each position by the input position of the element drawn there. `permutations`: those
  // of this stage.
  virtual void FindSources(std::span<int64_t> positions, const Key& key,
                           const SharedPermutations& permutations) const = 0;

  std::string SeedDetails() const { return seed_ ? fmt::format(", seed {}", *seed_) : ""; }

 private:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override;
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override;
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override;
  Key KeyOf(const ReadContext& context) const;
  // Records the key of a pass's draws for NameOfKey.
  void NoteDraws(const RngFactory& rngs) const;

  const std::optional<int64_t> seed_;
  mutable Mutex learning_;
  // The result is only read afterwards.
  mutable bool learnt_ STOKER_GUARDED_BY(learning_) = false;
  mutable Mutex noting_;
  mutable std::optional<Key> draws_ STOKER_GUARDED_BY(noting_);  // the first pass's
  mutable bool draws_differ_ STOKER_GUARDED_BY(noting_) = false;
};

}  // namespace stoker
