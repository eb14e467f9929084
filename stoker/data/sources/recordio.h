#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// The image records of RecordIO files, as MXNet's im2rec writes them (formats/recordio), one file
// after the other: {image: uint8[-1], label: float32[]}, the bytes of the image, for `decode`. With
// `labels: 3` the label is float32[3], with `labels: -1` float32[-1], as many as a record has; with
// `whole` int64. `raw` gives records as they are: {record: uint8[-1]}.
//
// By position, through an index that one scan makes and that is kept beside each file
// (formats/offset_index). An .idx file is not needed; where one lies beside a file on this machine,
// it is compared when that index is made, and kDataLoss if it does not list each record once. An
// element's key is its number in all files, not what the .idx calls it.
// A record of another number of labels is an error that names it, and the pass can go on behind it
// (on_error).
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
