#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// The records of .stoker shards (formats/shard), which `stoker pack` writes: one file after the
// other, named by paths, patterns or shards ("train@128"). The Spec comes from the files, which
// must agree in it, and so do the names of the classes. Readable by position: shuffle is exact, and
// resuming costs nothing. For data larger than memory, `shuffle: {window: ..., page: ...}` with
// pages of as many records as the files' pages have (`stoker inspect` tells) reads disks forward.
//
// The files are mapped: elements share the mapping, gathered rows are copies, and a run of
// consecutive records of a field is one copy. Opening reads headers and footers only. With
// `verify`, each block of 256 KiB is checked against its checksum when something in it is first
// read; a record in a damaged one is an error that names file and byte, and those elsewhere can be
// read (on_error). Errors: also those of ShardFile::Open; kInvalidArgument if files disagree.
struct Stoker {
  static constexpr std::string_view kName = "stoker";
  static constexpr std::string_view kHelp =
      "The records of .stoker shards, mapped and readable by position; `stoker pack` writes them.";
  FilePatterns files;
  bool verify = true;

  static void Describe(OptionTable<Stoker>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Stoker>();

}  // namespace stoker
