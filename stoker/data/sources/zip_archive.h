#pragma once

#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/nodes/webdataset_samples.h"

namespace stoker {

// Reads the samples of zip archives (formats/zip) in order, by the rules of `webdataset`: entries
// with the same name up to the first dot are a sample, anywhere in the archive; the rest of the
// name is the field. `0001.jpg` and `0001.cls` give {jpg: uint8[-1], cls: int64[]}. Samples come in
// the order in which the archive's directory first names them.
//
//   fields  as in `webdataset`: extensions, in the order of the fields, alternatives separated by
//           bars; empty: those of the first sample
//   numbers  the extensions whose members are whole numbers in ASCII
//   key     adds the samples' names as field `key`
//
// By position: the directory at an archive's end is the index, so shuffle is exact and nothing is
// scanned or stored beside the files. Opening takes about 150 bytes an entry. The files are mapped,
// so do not change them meanwhile; stored entries are not copied, deflated ones are inflated into
// memory of the pass. Each read verifies the content's CRC-32. An element's key is its number in
// all files. Errors: those of ZipFile; a sample without one of the fields, or a damaged one, is
// named and can be skipped (on_error).
struct ZipArchive {
  static constexpr std::string_view kName = "zip_archive";
  static constexpr std::string_view kHelp =
      "The samples of zip archives: a field for each extension, as `webdataset` makes them.";
  FilePatterns files;
  std::vector<std::string> fields;
  std::vector<std::string> numbers = kSampleNumbers;
  bool key = false;

  static void Describe(OptionTable<ZipArchive>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<ZipArchive>();

}  // namespace stoker
