#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/options/jsonl_fields.h"

namespace stoker {

// Takes the members that are named out of a field that holds a JSON object as text, uint8[-1], and
// puts them in its place, behind the other fields: members of archives that others have written,
// such as `.json` of WebDataset, values of databases, cells of CSV files.
//
//   fields  as those of the source `jsonl` (sources/jsonl.h): a type, a path such as a.b.0, a shape
//           and a default each. Required, since stages behind go by their types.
//
// What the text may be is what `jsonl` takes as a line (formats/jsonl/README.md), but with line
// ends between its values. Time: that of reading the text once; numbers are made for what is named.
// What is no such object, or has a named member of another type or shape, is an error that names
// the sample, the member and the byte, and the pass can go on behind it (on_error).
struct DecodeJson {
  static constexpr std::string_view kName = "decode_json";
  static constexpr std::string_view kHelp = "Makes fields of the members of a JSON object.";
  static constexpr bool kArranges = false;
  std::string field = "json";
  JsonlFields fields;

  static void Describe(OptionTable<DecodeJson>& table);
  Result<Dataset> Build(Dataset input) const;
};
template <>
const std::vector<Option>& OptionsOf<DecodeJson>();

}  // namespace stoker
