#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/nodes/webdataset_samples.h"

namespace stoker {

// Reads the samples of tar archives (formats/tar) in order: consecutive members with the same name
// up to its first dot are a sample, the rest of the name is the field: `0001.jpg` and `0001.cls`
// give {jpg: uint8[-1], cls: int64[]}. Fields are the bytes of their members, for `decode` and
// others; those in `numbers` are whole numbers in ASCII.
//
//   fields  extensions, in the order of the fields; alternatives separated by bars, of which a
//           sample has one: "jpg|jpeg|png". Empty: those of the first sample, or, for archives of
//           `stoker pack`, the packed fields with their types. "seg.png" is one extension; `.JPG`
//           is `jpg`, as in WebDataset.
//   numbers  extensions; if `cls` is not among them it is the bytes of its text, for `lookup`.
//            Packed archives that are read without `fields` have their types
//
// Plain archives are read by position, with an index that one scan of the headers makes and that is
// stored beside each file (formats/offset_index): shuffle is exact, a sample takes one read, and
// its bytes are not copied. An element's key is its number in all files. If a file is compressed,
// or `index` is none, they are read in order; the state is a file and a byte. A sample without one
// of the fields, or with two members for one, is an error that names it; the pass can continue
// after it (on_error).
struct Webdataset {
  static constexpr std::string_view kName = "webdataset";
  static constexpr std::string_view kHelp =
      "The samples of tar archives, as WebDataset writes them: a field for each extension.";
  FilePatterns files;
  std::vector<std::string> fields;
  std::vector<std::string> numbers = kSampleNumbers;
  bool key = false;
  std::string index = "stored";

  static void Describe(OptionTable<Webdataset>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Webdataset>();

}  // namespace stoker
