// Finds the files in folders of classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/sources/text_table_internal.h"

namespace stoker {

struct FolderScan {
  // Files that lie in one directory are consecutive.
  struct Directory {
    std::string path;
    int64_t label = 0;
    int64_t begin = 0;  // the number of its first file
  };

  std::vector<std::string> classes;    // sorted by their bytes
  std::vector<Directory> directories;  // in the order of their files; none is empty
  TextTable names;                     // of the files, within their directories
  int64_t left_out = 0;                // files of other extensions

  // Returns the directory of file number `file`.
  const Directory& DirectoryOf(int64_t file) const;
};

// Every sub-folder of `root` is a class, with its place among them as label. The files of a class
// are those in its folder, then those in its sub-folders, all sorted by their bytes; follows links.
// Ignores names that begin with a dot, and files of other extensions.
//   extensions   in lower case, without the dot; compared case-insensitively
//   allow_empty  a class may have no file
// `root` may be in a store that has lists, "s3://BUCKET/FOLDER". Cost: reads each directory once
// and calls stat(2) only on links. On S3, a request for each thousand names below `root`, one after
// the other. Errors: kNotFound (no such folder, no classes, no file of a class), kInvalidArgument
// (folders nested too deep), and those of listing a directory or ListRemoteFolder.
Result<FolderScan> ScanFolder(const std::string& root, const std::vector<std::string>& extensions,
                              bool allow_empty);

}  // namespace stoker
