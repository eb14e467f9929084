#pragma once

#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/sources/webdataset_samples_internal.h"

namespace stoker {

// The samples of zip archives (formats/zip), one archive after the other, by the rules of
// `webdataset`: entries whose names are the same up to the first dot are one sample, wherever they
// stand in the archive, the rest of the name says which field. `0001.jpg` and `0001.cls` give {jpg:
// uint8[-1], cls: int64[]}. Samples come in the order in which the archive's directory first names
// them.
//
//   fields  as of `webdataset`: extensions, in the order of the fields, alternatives with bars
//           between; empty: those of the first sample
//   numbers  the extensions whose members are whole numbers in ASCII
//   key     the samples' names too, as field `key`
//
// Read by position: the directory at an archive's end is the index, so shuffle is exact and nothing
// is scanned or kept beside the files. Opening takes about 150 bytes an entry. The files are mapped
// and must not be changed meanwhile; what is stored in them is not copied, what is deflated is
// inflated into memory of the pass. Every content is checked against its CRC-32 each time. An
// element's key is its number in all files. Errors: those of ZipFile; a sample without one of the
// fields, or one that is damaged, is named and can be left out (on_error).
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
