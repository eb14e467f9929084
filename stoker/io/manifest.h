// manifest.json: sizes and checksums of the files of a directory.
//
//   {"format": 1, "files": {NAME: {"bytes": 12, "crc32c": "0123abcd"}, ...}, "crc32c": "..."}
//
// Its last key is the CRC-32C of the list itself. A manifest is valid only if writing its list
// again gives the same bytes.
//
// Errors of reading distinguish proved damage from trouble. kDataLoss: a checksum, a size or a
// format is wrong, or a listed file is missing. Every other code: something cannot be read now (an
// EIO, too many open files, no memory, no access) and may be whole.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

inline constexpr const char* kManifestName = "manifest.json";

// Concurrent calls of const functions are safe.
class Manifest {
 public:
  // Writes manifest.json of `directory` with the files `names` as they are now. Reads them whole.
  // Errors: those of io/file.h and io/atomic_file.h.
  static Status Write(const std::string& directory, std::span<const std::string_view> names);

  // Returns the entry of one file as it is now, for WriteEntries. Reads it whole. Errors: those of
  // io/file.h.
  static Result<Json> EntryOf(const std::string& path);

  // Writes manifest.json of `directory` with these entries, by file name, some of files that others
  // have written. Errors: kFailedPrecondition: a file is not there, or of another size; those of
  // io/atomic_file.h.
  static Status WriteEntries(const std::string& directory, const Json& files);

  // Reads the manifest of `directory`. A missing manifest is kDataLoss.
  static Result<Manifest> Read(const std::string& directory);

  // Returns the names of the listed files, in alphabetical order.
  std::vector<std::string> names() const;

  // Compares the file `name` with its size and checksum. Reads all of it, in little memory.
  Status Check(const std::string& name) const;

  // Checks all listed files, up to the first error.
  Status CheckAll() const;

  // Returns the bytes of the file `name` after comparing them with its size and checksum. Errors:
  // also kResourceExhausted if there is no memory for them.
  Result<Buffer> ReadFile(const std::string& name) const;

 private:
  Manifest(std::string directory, Json files)
      : directory_(std::move(directory)), files_(std::move(files)) {}

  std::string directory_;
  Json files_;
};

}  // namespace stoker
