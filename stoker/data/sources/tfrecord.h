#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// Reads the records of TFRecord files (formats/tfrecord) in order, as elements {record: uint8[-1]};
// parse_example makes fields of them. Files are plain, or compressed as a whole
// (io/decompression.h; detected by content), and are named by paths, patterns or shards: "x@128"
// are x-00000-of-00128 to x-00127-of-00128.
//
// Plain files are read by position, with an index that one scan makes and that is stored beside
// each file (formats/offset_index): shuffle is exact, and resuming costs nothing. An element's key
// is its number in all files. If a file is compressed, or `index` is none, they are read in order;
// the state is a file and a byte, and a compressed file is decompressed again from its start. Use
// interleave to read many of those at once.
//
// A record whose data do not match their checksum is an error that names file, record and byte; the
// pass can continue after it (on_error). After a damaged length no record can be found.
struct Tfrecord {
  static constexpr std::string_view kName = "tfrecord";
  static constexpr std::string_view kHelp =
      "The records of TFRecord files, plain or compressed, as bytes; parse_example reads them.";
  FilePatterns files;
  std::string compression = "auto";
  bool verify = true;
  std::string index = "stored";
  int64_t max_bytes = 1 << 30;
  std::string field = "record";

  static void Describe(OptionTable<Tfrecord>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Tfrecord>();

}  // namespace stoker
