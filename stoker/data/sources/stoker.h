#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// Reads the records of .stoker shards (formats/shard), which `stoker pack` writes, in order; named
// by paths, patterns or shards ("train@128"). The Spec and the names of the classes come from the
// files, which must agree. By position: shuffle is exact, and resuming costs nothing. For data
// larger than memory, `shuffle: {window: ..., page: ...}` with a page of as many records as a page
// of the files (`stoker inspect` prints it) reads page by page.
//
// The files are mapped: elements share the mapping, gathered rows are copies. Opening reads headers
// and footers only. With `verify`, each block of 256 KiB is compared with its checksum when a part
// of it is first read; a record in a damaged one is an error that names file and byte; the others
// can be read (on_error). Errors: also those of ShardFile::Open; kInvalidArgument if files
// disagree.
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
