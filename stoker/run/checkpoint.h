// Checkpoints: everything that a run needs to go on as if it had never stopped.
//
// Each is a directory, step-00000938, with
//   tensors.safetensors   parameters and buffers ("model."), optimizer state ("optimizer."), where
//                         weights are averaged, averages ("average.") and their number
//                         ("averaging.")
//   state.json            step, epoch, random state, pipeline position, best metrics
//   manifest.json         size and CRC-32C of each file, and of itself
// It appears at once (io/atomic_file.h); older ones are removed only after that. So at any moment,
// a kill or a full disk included, the newest directory is whole. What the disk itself damages later
// is found by the checksums: LoadNewest then falls back to the one before. Only damage that is
// proved counts (a checksum, a size or a format that is wrong, a file that is missing): a
// checkpoint that cannot be read now, because of an EIO, too many open files, no memory or no
// access, may be whole, and is neither passed over nor removed.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker {

struct Checkpoint {
  std::vector<NamedArray> tensors;
  Json state;
};

// The checkpoints of one run. One thread at a time.
class CheckpointStore {
 public:
  //   directory  made by the first Write; its parent exists
  //   keep       how many of the newest stay, at least 1
  CheckpointStore(std::string directory, int64_t keep)
      : directory_(std::move(directory)), keep_(keep) {}

  // Writes the checkpoint of `step`, then removes those that are too many, but for those of the
  // steps `kept_beside`. A whole one of the same step stays as it is, a damaged one is replaced.
  // Errors: those of io/atomic_file.h, after which the older ones are untouched; where there is one
  // of this step and it cannot be read, why.
  Status Write(int64_t step, std::span<const NamedArray> tensors, const Json& state,
               std::span<const int64_t> kept_beside = {});

  // The steps that have a checkpoint, whole or not, oldest first.
  Result<std::vector<int64_t>> Steps() const;

  // The checkpoint of `step`, verified. Errors: kDataLoss, which says which file is damaged or
  // missing and how; any other code says why it cannot be read, and nothing about what it holds.
  Result<Checkpoint> Load(int64_t step) const;

  struct Newest {
    int64_t step = 0;
    Checkpoint checkpoint;
    std::vector<std::string> warnings;  // of the damaged ones passed over: which, and what is wrong
  };
  // Errors: kNotFound where there is none; kDataLoss where all are damaged; any other code where
  // one that may be the newest whole one cannot be read.
  Result<Newest> LoadNewest() const;

  // Where the checkpoint of `step` lies.
  std::string PathOf(int64_t step) const;

 private:
  Status RemoveOld(int64_t written, std::span<const int64_t> kept_beside);
  // Whether the checkpoint of `step` is damaged for certain. Reads all of it the first time, and
  // afterwards only where it was damaged.
  bool IsProvedDamaged(int64_t step);

  std::string directory_;
  int64_t keep_;
  std::set<int64_t> not_proved_damaged_;  // of the steps that IsProvedDamaged has looked at
};

}  // namespace stoker
