// manifest.json: what the files of a directory must be like, so that damage is noticed.
//
//   {"format": 1, "files": {NAME: {"bytes": 12, "crc32c": "0123abcd"}, ...}, "crc32c": "..."}
//
// Its last key is the CRC-32C of the list itself, so a manifest is right only if it is, byte for
// byte, what is made of that list.
//
// All that reads tells damage that is proved from trouble. kDataLoss: a checksum, a size or a
// format is wrong, or a file that is listed is missing. Every other code: something cannot be read
// now (an EIO, too many open files, no memory, no access), and may be whole.
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
  // Lists the files `names` of `directory` as they are now, in its manifest.json. Reads them whole.
  // Errors: those of io/file.h and io/atomic_file.h.
  static Status Write(const std::string& directory, std::span<const std::string_view> names);

  // The manifest of `directory`. A manifest that is missing is kDataLoss.
  static Result<Manifest> Read(const std::string& directory);

  // Of the files listed, in the order of the alphabet.
  std::vector<std::string> names() const;

  // Compares the file `name` with its size and checksum. Reads all of it, in little memory.
  Status Check(const std::string& name) const;

  // The same of all files listed, up to the first error.
  Status CheckAll() const;

  // The bytes of the file `name`, compared with its size and checksum. Errors: also
  // kResourceExhausted where there is no memory for them.
  Result<Buffer> ReadFile(const std::string& name) const;

 private:
  Manifest(std::string directory, Json files)
      : directory_(std::move(directory)), files_(std::move(files)) {}

  std::string directory_;
  Json files_;
};

}  // namespace stoker
