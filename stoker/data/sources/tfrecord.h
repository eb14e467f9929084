#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// The records of TFRecord files (formats/tfrecord), one file after the other, as elements {record:
// uint8[-1]}; parse_example makes fields of them. Files are plain, or compressed as a whole with
// gzip, zlib, zstd, xz or bzip2 (told by their content), and are named by paths, patterns or
// shards: "x@128" are x-00000-of-00128 to x-00127-of-00128.
//
// Plain files are read by position, through an index that one scan makes and that is kept beside
// each file (formats/offset_index): shuffle is exact, and resuming costs nothing. An element's key
// is its number in all files. Where one is compressed, or `index` is none, they are read in order,
// by one thread at a time; the state is a file and a byte, and a compressed file is decompressed
// again from its start. Many of those are read side by side with interleave.
//
// A record whose data lack their checksum is an error that names file, record and byte, and the
// pass can go on behind it (on_error); where a length is damaged nothing behind it can be found.
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
