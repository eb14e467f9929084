// Transform: a pure function from one element to one element.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/random.h"
#include "stoker/data/core/element.h"

namespace stoker {

class StopFlag;

// Borrowed by a stage for one call: memory for its results (recycled blocks, charged to the stage),
// and whether they are still wanted.
class Scratch {
 public:
  // stop: may be null
  explicit Scratch(BufferPool& pool, const StopFlag* stop = nullptr) : pool_(pool), stop_(stop) {}
  // Returns an array whose values are not initialised.
  Array NewArray(DType dtype, Shape shape);
  // An array of so many rows of this shape; values are not set.
  Array NewRows(int64_t rows, DType dtype, const Shape& shape_of_one);

  // Returns true if the pass is ending and discards the result: a long call may then return any
  // error.
  bool stopped() const;

  // Returns the bytes that this thread has requested since it began, in all stages.
  static int64_t BytesAskedByThisThread();
  // Subtracts what this thread has requested since the call above returned `before`, because it is
  // for elements that a stage holds, not for the current one.
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

// Stateless and thread-safe. The operator's Build finds everything that can be wrong with the
// input's Spec. The result depends only on the sample, the options and the Rng, and has the same
// bytes on every CPU, alone or among rows.
class Transform {
 public:
  virtual ~Transform() = default;

  // Changes `element` in place: replaces arrays, or writes into one if MayWriteInPlace.
  virtual Status Apply(Element& element, Rng& rng, Scratch& scratch) const = 0;

  // Does the same for many samples at once. The default applies Apply to each row and stacks the
  // results, so overriding it is for speed only. Rows keep their keys.
  virtual Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const;

  // Returns false if it never draws from the Rng, so that a sample is the same in every pass.
  virtual bool random() const { return true; }
  // Returns true if ApplyRows makes at most one array for each column; the default makes one for
  // each field of each sample and then stacks them. For the memory budget.
  virtual bool works_on_columns() const { return false; }

  // Returns the files that it was made from, such as a vocabulary: with others it computes
  // something else (DatasetNode::files).
  virtual std::vector<std::string> files() const { return {}; }
};

// Returns true if the array's memory may be written in place: it is the only copy of a block that
// Stoker allocated. Memory of a user or a file must be copied instead.
bool MayWriteInPlace(const Array& array);

}  // namespace stoker
