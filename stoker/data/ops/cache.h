#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the elements of its input, so that what stands before it works once, and not in every
// epoch. The elements are the same with and without it, their keys too: draws behind it do not
// change. Put it behind what is costly and before what draws at random; behind a stage that draws
// (shuffle, random_crop) it is refused, since every epoch would then have the draws of the first.
//
// By position where the input is: each element is kept when it is first read, whatever the order.
// In order, a pass that goes through the whole epoch keeps it; a pass that is broken off, or was
// restored in its middle, keeps nothing.
//
// In memory (no path): up to half of the memory budget of the pass that is opened first, shared by
// all passes over the dataset, and charged to the budget of each (data/core/kept_memory.h). What
// does not fit is made again in every epoch (in order: then nothing is kept). A warning says so
// once, before the first epoch where the number of elements is known, and their size, or what some
// of them, read by position, show of it.
//
// On disk (path): an element file (formats/elements), which has its name only once it holds every
// element, so what a killed run leaves is never taken for a cache. In a recipe a relative path
// starts at data.root, where `snapshot` looks for it too; give an absolute one where data.root may
// not be written to. It is used again by later runs,
// and each element's checksum is verified when it is read. It is made anew, and the log
// says why, where the version of Stoker, the stages before it with their options, the size or time
// of a file that they read, or the values of arrays (FromArrays) are others. In C++, where no
// recipe says what they are, those options count that Dataset::ToString shows. The code of a C++
// function cannot be told, nor what a stage opens while it runs (interleave's `each`): change `key`
// with it. Several processes may use one file; where they make it at the same time, each makes all
// of it, and the last one's, which is equal, stays. A rank that shares a pass by position
// (PassOptions::rank) reads only its part of the elements, so it makes the whole file when the pass
// is opened, where there is none yet. All ranks take the same path, be it on a disk that they share
// or not.
//
// The file is also a source, `snapshot: path`, without the stages that made it; WriteSnapshot
// writes one of any pipeline, draws included.
//
// Memory: what a read from memory or disk gives shares the store's memory; gathered rows are
// copies. Errors: kDataLoss where the file has been damaged, with the byte; those of
// io/atomic_file.h. Resuming costs nothing by position. In order it costs nothing once the file is
// complete; a position that was saved when elements came from memory is reached by reading the
// input again.
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
