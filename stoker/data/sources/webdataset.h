#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/sources/webdataset_samples_internal.h"

namespace stoker {

// The samples of tar archives (formats/tar), one archive after the other: members that follow each
// other and have the same name up to its first dot are one, the rest of the name says which field:
// `0001.jpg` and `0001.cls` give {jpg: uint8[-1], cls: int64[]}. Fields are the bytes of their
// members, for `decode` and others; those that `numbers` names are whole numbers written in ASCII.
//
//   fields  extensions, in the order of the fields; alternatives with bars between, of which a
//           sample has one: "jpg|jpeg|png". Empty: those of the first sample, or where `stoker
//           pack` wrote the archives the fields that were packed, with their types. An extension
//           with dots ("seg.png") is one as a whole; `.JPG` is `jpg`, as WebDataset takes it.
//   numbers  extensions; without `cls` it is the bytes of its text, for `lookup`. What was packed,
//           and is read without `fields`, has its types
//
// Plain archives are read by position, through an index that one scan of the headers makes and that
// is kept beside each file (formats/offset_index): shuffle is exact, a sample takes one read, and
// nothing of it is copied. An element's key is its number in all files. Where one is compressed, or
// `index` is none, they are read in order; the state is a file and a byte. A sample without one of
// the fields, or with two members for one, is an error that names it, and the pass can go on behind
// it (on_error).
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
