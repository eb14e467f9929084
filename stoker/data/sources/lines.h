#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Reads the lines of a text file, plain or compressed (detected by the first bytes), as
// elements {text: uint8[-1]}: a line's bytes without its end, which is LF or CR LF. A last line
// needs no end. A line of more than `max_bytes` is an error that gives file, byte and line; with
// ignore_errors the pass continues with the next line. An element's key is the offset of its line
// in the content, so a line of a plain file can be read again from its key.
//
// In order. The state is a byte and a line number. A plain file is read from that byte; a
// compressed one is decompressed again from its start, which takes as long as reading that much
// did. Use interleave to read many files at once.
struct Lines {
  static constexpr std::string_view kName = "lines";
  static constexpr std::string_view kHelp =
      "The lines of a text file, plain or compressed, as bytes.";
  std::filesystem::path path;
  int64_t skip = 0;
  bool skip_blank = false;
  int64_t max_bytes = 1 << 20;
  std::string field = "text";

  static void Describe(OptionTable<Lines>& table);
  Result<Dataset> Build() const;
};

}  // namespace stoker
