#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Reads the elements of an element file (formats/elements), which WriteSnapshot or a `cache` with a
// path has written. So tf.data's save and load are WriteSnapshot and this; its snapshot, which
// writes in the first run and reads in the next, is `cache: {path: ...}`.
//
// By position; verifies every element's checksum when it is read. The Spec comes from the file;
// keys are positions. Ignores the origin of the file and never rebuilds it. Opening reads the
// header and the index; if the file is mapped (io/file_bytes.h) elements share it, and gathered
// rows are copies. Errors: kDataLoss with file and byte; those of FileBytes::Open.
struct Snapshot {
  static constexpr std::string_view kName = "snapshot";
  static constexpr std::string_view kHelp =
      "Elements that an earlier run stored: the file of a `cache` with a path, or in C++ of "
      "WriteSnapshot.";
  std::filesystem::path path;

  static void Describe(OptionTable<Snapshot>& table);
  Result<Dataset> Build() const;
};

// Writes one epoch of `dataset`, which must be finite, with its random draws, to `path`. Replaces a
// file of that name in one step when it is whole. Errors: those of the pass, and of
// io/atomic_file.h.
Status WriteSnapshot(const Dataset& dataset, const std::string& path,
                     const Runtime& runtime = Runtime::Threaded(), const PassOptions& pass = {});

}  // namespace stoker
