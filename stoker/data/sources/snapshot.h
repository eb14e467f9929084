#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// The elements of an element file (formats/elements): what WriteSnapshot has written, or a pipeline
// up to its `cache` with a path. So tf.data's save and load are WriteSnapshot and this; its
// snapshot, which writes in the first run and reads in the next, is `cache: {path: ...}`.
//
// Readable by position; every element's checksum is verified when it is read. The
// Spec comes from the file, the elements are numbered anew. What the file was made from does not
// matter here: it is never made anew. Opening reads the header and the index; where the
// file is mapped (io/file_bytes.h) elements share it, gathered rows are copies.
// Errors: kDataLoss with file and byte; those of FileBytes::Open.
struct Snapshot {
  static constexpr std::string_view kName = "snapshot";
  static constexpr std::string_view kHelp =
      "Elements that an earlier run stored: the file of a `cache` with a path, or in C++ of "
      "WriteSnapshot.";
  std::filesystem::path path;

  static void Describe(OptionTable<Snapshot>& table);
  Result<Dataset> Build() const;
};

// Writes one epoch of `dataset`, which must end, with its random draws, to `path`, in one step when
// it is whole: a file of that name is replaced then. Errors: those of the pass, and of
// io/atomic_file.h.
Status WriteSnapshot(const Dataset& dataset, const std::string& path,
                     const Runtime& runtime = Runtime::Threaded(), const PassOptions& pass = {});

}  // namespace stoker
