// A path from the user, and the kind of its first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/formats/probe/file_kind.h"

namespace stoker {

struct ProbedFile {
  std::string path;
  FileKind stored = FileKind::kUnknown;   // of the stored file
  FileKind content = FileKind::kUnknown;  // of its decompressed content
  std::string start = {};  // of the content: kProbeBytes bytes, or all of a shorter one
  uint64_t bytes = 0;      // of the file
  bool n5 = false;         // IsN5; then the other members are not set

  std::string_view compression = {};  // its name (io/decompression.h); empty if it has none
  // Returns what the stored file is, in a sentence: "gzip data".
  std::string stored_name() const;
  // Returns ".csv" for "a.csv", also if the ending of a compression follows it.
  std::string extension() const;
};

// Reads the first bytes, except for N5, whose arrays are directories. Errors: those of opening and
// reading, and of decompressing.
Result<ProbedFile> ProbePath(const std::string& path);

// Returns the first bytes of the decompressed content: kProbeBytes, or all of a shorter one.
Result<std::string> ReadContentPrefix(const std::string& path);

}  // namespace stoker
