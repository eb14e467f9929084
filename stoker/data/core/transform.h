// Transform: a pure function from one element to one element.
#pragma once

#include <memory>

#include "stoker/base/buffer.h"
#include "stoker/base/random.h"
#include "stoker/data/core/element.h"

namespace stoker {

class StopFlag;

// What a stage works with, borrowed for one call: memory for what it makes (recycled blocks,
// charged to the stage), and whether that is still wanted.
class Scratch {
 public:
  // stop: may be null
  explicit Scratch(BufferPool& pool, const StopFlag* stop = nullptr) : pool_(pool), stop_(stop) {}
  // Values are not set.
  Array NewArray(DType dtype, Shape shape);

  // True where the pass is ending and what is being made will be thrown away: a call that takes
  // long may then return any error.
  bool stopped() const;

  // The bytes that this thread has asked for since it began, of all stages together.
  static int64_t BytesAskedByThisThread();
  // Takes back what this thread has asked for since the call above gave `before`: it is for
  // elements that a stage will hold, not for the one under way.
  static void ForgetBytesAskedSince(int64_t before);

 private:
  BufferPool& pool_;
  const StopFlag* const stop_;
};

// Makes the random stream of a sample at one stage.
struct RngFactory {
  uint64_t seed = 0;
  uint64_t stage = 0;
  Rng For(const SampleKey& key) const {
    return Rng(seed, key.epoch, static_cast<uint64_t>(key.index), stage);
  }
};

// Stateless and thread-safe: everything that can be wrong with the input's Spec is found when the
// transform is made (the operator's Build), and what it does to a sample depends on nothing but the
// sample, the options and the Rng. The same sample gives the same bytes on every CPU, alone or
// among rows.
class Transform {
 public:
  virtual ~Transform() = default;

  // Changes `element` in place: replaces arrays, or writes into one where MayWriteInPlace.
  virtual Status Apply(Element& element, Rng& rng, Scratch& scratch) const = 0;

  // The same for many samples at once. The default applies Apply to each row and stacks the
  // results, so overriding it is for speed only. Rows keep their keys.
  virtual Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const;

  // False where nothing is drawn from the Rng, so that a sample is the same in every pass.
  virtual bool random() const { return true; }
  // True where ApplyRows makes no more arrays than one for each column; the default makes one for
  // each field of each sample and then stacks them. For the memory budget.
  virtual bool works_on_columns() const { return false; }
};

// True where nobody else sees the array's memory and it may be written in place: the only copy of a
// block that Stoker allocated. Memory that a user or a file lends is copied instead.
bool MayWriteInPlace(const Array& array);

}  // namespace stoker
