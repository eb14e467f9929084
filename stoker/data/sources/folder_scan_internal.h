// Which files lie in folders of classes.
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

  // The directory that file number `file` lies in.
  const Directory& DirectoryOf(int64_t file) const;
};

// Every sub-folder of `root` is a class, its label its place among them. The files of a class are
// those in its folder, then those in its sub-folders, all sorted by their bytes; links are
// followed. Names that begin with a dot are left out, and files of other extensions.
//   extensions   in small letters, without the dot; compared without regard to case
//   allow_empty  a class may have no file
// `root` may be in a store that has lists, "s3://BUCKET/FOLDER".
// Cost: each directory is read once; files are not looked at, only links are. Of S3, a request for
// each thousand names below `root`, one after the other.
// Errors: kNotFound (no such folder, no classes, no file of a class), kInvalidArgument (folders
// nested too deep), and those of listing a directory or ListRemoteFolder.
Result<FolderScan> ScanFolder(const std::string& root, const std::vector<std::string>& extensions,
                              bool allow_empty);

}  // namespace stoker
