// The files that an argument of a command stands for.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct FileSet {
  std::vector<std::string> files;
  bool several = false;  // a directory or a pattern was named, however many files there are
};

// A file stands for itself; a directory for all files in it and below, sorted by their bytes, but
// for names that begin with a dot, and for the lock beside an LMDB database; the directory of such
// a database for its file, and that of an N5 array for itself; anything else is a pattern or a set
// of shards (data/core/file_patterns.h). What is piped in ("-") is copied to a file that has no
// name. Errors: kNotFound where nothing is there, or nothing in the directory; those of listing
// directories.
Result<FileSet> FilesOf(const std::string& name);

}  // namespace stoker
