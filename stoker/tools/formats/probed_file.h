// A path that a user named, and what the first bytes there say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/formats/probe/file_kind.h"

namespace stoker {

struct ProbedFile {
  std::string path;
  FileKind stored = FileKind::kUnknown;   // of the file as it is
  FileKind content = FileKind::kUnknown;  // of what it holds, where it is compressed
  std::string start = {};  // of the content: kProbeBytes bytes, or all of it where that is shorter
  uint64_t bytes = 0;      // of the file
  bool n5 = false;         // it is what IsN5 says, of which nothing else is known here

  // "gzip", "zstd", "xz" or "bzip2"; empty where nothing is around the content.
  std::string_view compression() const;
  // ".csv" of "a.csv", also where the ending of a compression follows it.
  std::string extension() const;
};

// Reads the first bytes; of N5, whose arrays are directories, none. Errors: those of opening and
// reading, and of decompressing.
Result<ProbedFile> ProbePath(const std::string& path);

// The first bytes of the content, decompressed where the file is compressed: kProbeBytes of them,
// or fewer where there are no more.
Result<std::string> ReadContentPrefix(const std::string& path);

}  // namespace stoker
