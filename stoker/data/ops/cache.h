#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the elements of its input, so that earlier stages work once and not in every epoch. The
// elements and their keys are the same with and without it, so later draws do not change. Put it
// after costly stages and before random ones. It is refused after a stage that draws (shuffle,
// random_crop), because every epoch would then repeat the draws of the first.
//
// By position if the input is: each element is kept when it is first read, in any order. In order,
// a pass over the whole epoch keeps it; a pass that is broken off, or was restored in its middle,
// keeps nothing.
//
// In memory (no path): up to half of the memory budget of the first pass, shared by all passes over
// the dataset, and charged to the budget of each. Elements that do not fit are made again in every
// epoch (in order: then none is kept). A warning says so once, before the first epoch if the number
// of elements is known, and their size, or an estimate from some of them.
//
// On disk (path): an element file (formats/elements), which has its name only once it holds every
// element, so a killed run leaves no incomplete cache. In a recipe a relative path starts at
// data.root, as for `snapshot`; give an absolute one if data.root is read-only. Later runs use it
// again and verify each element's checksum when they read it. It is made anew, and the log says
// why, if the version of Stoker, the earlier stages or their options, the size or time of a file
// that they read, or the values of arrays (FromArrays) have changed. In C++, without a recipe, only
// the options in Dataset::ToString count. Changes in the code of a C++ function, or in what a stage
// opens while it runs (interleave's `each`), are not detected: change `key` with them. Several
// processes may use one file; if they make it at the same time, each makes all of it, and the last
// one's, which is equal, stays. A rank that shares a pass by position (PassOptions::rank) reads
// only its part of the elements, so it makes a missing file as a whole when the pass is opened. All
// ranks use the same path, on a shared disk or not.
//
// The file is also a source, `snapshot: path`, without the stages that made it; WriteSnapshot
// writes one from any pipeline, draws included.
//
// Memory: elements share the store's memory; gathered rows are copies. Errors: kDataLoss if the
// file is damaged, with the byte; those of io/atomic_file.h. Resuming costs nothing by position. In
// order it costs nothing once the file is complete; to reach a position that was saved when
// elements came from memory the input is read again.
struct Cache {
  static constexpr std::string_view kName = "cache";
  static constexpr std::string_view kHelp =
      "Keeps elements in memory, or in a file for later runs and `snapshot`, so that they are made "
      "only once.";
  static constexpr bool kArranges = true;
  std::filesystem::path path;
  std::string key;

  static void Describe(OptionTable<Cache>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
