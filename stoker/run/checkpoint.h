// Checkpoints: everything that a run needs to continue as if it had never stopped.
//
// Each is a directory, step-00000938, with
//   tensors.safetensors   parameters and buffers ("model."), optimizer state ("optimizer."), and if
//                         weights are averaged the averages ("average.") and their number
//                         ("averaging."); of several ranks that write in parts
//                         (train.checkpoint.parts) tensors-00000-of-00004.safetensors and so on,
//                         each with some of the tensors, and together with all
//   state.json            step, epoch, random state, pipeline position, best metrics
//   manifest.json         size and CRC-32C of each file, and of itself
// It appears atomically (io/atomic_file.h); older ones are removed only after that. So at any
// moment, also after a kill or on a full disk, the newest directory is whole. Checksums detect
// later damage by the disk: LoadNewest then uses the previous checkpoint. Only proved damage counts
// (a wrong checksum, size or format, a missing file): a checkpoint that cannot be read now, because
// of an EIO, too many open files, no memory or no access, may be whole, and is neither skipped nor
// removed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

// Returns the name of the file with part `part` of `parts` of the tensors.
std::string PartName(int64_t part, int64_t parts);
// Returns whether a file of a checkpoint has this name because it holds tensors.
bool HoldsTensors(std::string_view name);

struct Checkpoint {
  std::vector<NamedArray> tensors;
  Json state;
};

// The checkpoints of one run. One thread at a time.
class CheckpointStore {
 public:
  //   directory  the first Write creates it; its parent exists
  //   keep       how many of the newest to keep, at least 1
  CheckpointStore(std::string directory, int64_t keep)
      : directory_(std::move(directory)), keep_(keep) {}

  // Writes the checkpoint of `step`, then removes the oldest beyond `keep`, except those of the
  // steps `kept_beside`. Keeps a whole one of the same step, and replaces a damaged one. Trouble
  // that may pass is met by writing all of it again, twice at most. Errors: those of
  // io/atomic_file.h, after which the older ones are untouched; those of reading an existing one of
  // this step.
  Status Write(int64_t step, std::span<const NamedArray> tensors, const Json& state,
               std::span<const int64_t> kept_beside = {});

  // Begins a checkpoint of `step` whose tensors several processes write, each into a file PartName
  // of the directory. Nothing if there is a whole one. Errors: those of Write.
  Result<std::optional<AtomicDirectory>> BeginParts(int64_t step);
  // Writes the state and the manifest, gives the directory its name, and removes old ones as Write
  // does. Trouble in the last of these is not met by trying again, since the parts would have to be
  // written again too.
  //   begun  by BeginParts
  //   parts  the entry (Manifest::EntryOf) of each file of tensors, by its name
  // Errors: also kFailedPrecondition: a part is not there as it was written.
  Status PublishParts(int64_t step, AtomicDirectory begun, Json parts, const Json& state,
                      std::span<const int64_t> kept_beside = {});

  // Returns the steps that have a checkpoint, whole or not, oldest first.
  Result<std::vector<int64_t>> Steps() const;

  // Returns the checkpoint of `step`, verified. Errors: kDataLoss, which says which file is damaged
  // or missing and how; any other code says why it cannot be read, and proves no damage.
  Result<Checkpoint> Load(int64_t step) const;

  struct Newest {
    int64_t step = 0;
    Checkpoint checkpoint;
    std::vector<std::string> warnings;  // the damaged ones that were skipped, and what is wrong
  };
  // Returns the newest whole checkpoint. Errors: kNotFound if there is none; kDataLoss if all are
  // damaged; any other code if one that may be the newest whole one cannot be read.
  Result<Newest> LoadNewest() const;

  // Returns the path of the checkpoint of `step`.
  std::string PathOf(int64_t step) const;

 private:
  // Begins the directory of `step`, without a damaged one; nothing if there is a whole one.
  Result<std::optional<AtomicDirectory>> Begin(int64_t step);
  Status WriteOnce(int64_t step, std::span<const NamedArray> tensors, const Json& state);
  void TidyAfter(int64_t written, std::span<const int64_t> kept_beside);
  Status RemoveOld(int64_t written, std::span<const int64_t> kept_beside);
  // Returns whether the checkpoint of `step` is certainly damaged. Reads all of it the first time,
  // and later only if it was damaged.
  bool IsProvedDamaged(int64_t step);

  std::string directory_;
  int64_t keep_;
  std::set<int64_t> not_proved_damaged_;  // steps that IsProvedDamaged has checked
};

}  // namespace stoker
