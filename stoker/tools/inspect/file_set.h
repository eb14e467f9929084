// The files named by an argument of a command.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct FileSet {
  std::vector<std::string> files;
  bool several = false;  // a directory or a pattern was named, with any number of files
};

// Returns the files of `name`: a file itself; all files in a directory and below, sorted by their
// bytes, except names that begin with a dot and the lock beside an LMDB database; the file of an
// LMDB directory, and the directory of an N5 array itself; anything else is a pattern or a set of
// shards (data/core/file_patterns.h). Copies standard input ("-") to a file without a name. Errors:
// kNotFound if there is no such file, or the directory is empty; those of listing directories.
Result<FileSet> FilesOf(const std::string& name);

}  // namespace stoker
