#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// Reads the image records of RecordIO files, as MXNet's im2rec writes them (formats/recordio), in
// order: {image: uint8[-1], label: float32[]}, the bytes of the image, for `decode`. With `labels:
// 3` the label is float32[3], with `labels: -1` float32[-1], as many as a record has; with `whole`
// int64. `raw` returns undecoded records: {record: uint8[-1]}.
//
// By position, with an index that one scan makes and that is stored beside each file
// (formats/offset_index). An .idx file is not needed; one beside a local file is compared when that
// index is made: kDataLoss if it does not list each record once. An element's key is its number in
// all files, not its key in the .idx. A record with another number of labels is an error that names
// it; the pass can continue after it (on_error).
struct Recordio {
  static constexpr std::string_view kName = "recordio";
  static constexpr std::string_view kHelp =
      "The image records of MXNet's RecordIO files (.rec), with their labels.";
  FilePatterns files;
  int64_t labels = 1;
  bool whole = false;
  bool raw = false;
  std::string index = "stored";

  static void Describe(OptionTable<Recordio>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Recordio>();

}  // namespace stoker
