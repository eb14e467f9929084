// Makes one packed set of the parts that several processes have made (pack_part.h).
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/pack/pack.h"

namespace stoker {

struct MergeOptions {
  const PackFormat* format = nullptr;
  // Reads every file back, and compares its elements with the checksum that its part stored. If
  // false, the files' sizes are compared.
  bool verify = false;
  // Once true, reading back ends with kCancelled; may be null.
  const std::atomic<bool>* stop = nullptr;
  // Called at the beginning, after each element that is read back and after each file; may be
  // empty.
  std::function<void(const PackProgress&)> observer;
};

struct MergeReport {
  PackReport packed;      // all files
  Spec spec;              // of their elements; empty if they had been merged before
  int64_t parts = 0;      // that were merged
  bool was_done = false;  // a merge before this one had made the set; nothing was left to do
};

// Makes the parts of `destination`, in its directory, one set: the same files, with the same bytes,
// that one process would have packed, and the same record beside them. No shard is copied: parts
// give them their final names. What it adds is the proof that they belong together, the file of
// class names for formats that have no place for them, and the record; those of the parts go.
//
// The parts are whole and of one packing if there is a finished record of each of the M parts, all
// with the same version of Stoker, pipeline, options, input files (their paths, sizes and times),
// format and number of files; if each has the files of its part; and if every file is there with
// the size, or with `verify` the elements, that its record says. Killed at any moment, the same
// call finishes it.
//
// Errors: kNotFound if there is no part, or no such directory; kFailedPrecondition names what is
// missing, unfinished or different, with the command or change that helps; kDataLoss for files
// whose elements are others; kCancelled; those of reading and writing. After an error the parts are
// as they were.
Result<MergeReport> MergeParts(const std::string& destination, const MergeOptions& options);

}  // namespace stoker
