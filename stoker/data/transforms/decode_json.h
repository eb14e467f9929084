#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/options/jsonl_fields.h"

namespace stoker {

// Replaces a field that holds a JSON object as text, uint8[-1], by the named members of the object,
// after the other fields. For members of archives of other programs, such as `.json` of WebDataset,
// values of databases, cells of CSV files.
//
//   fields  as those of the source `jsonl` (sources/jsonl.h): a type, a path such as a.b.0, a shape
//           and a default each. Required, because later stages need their types.
//
// The text may be anything that `jsonl` accepts as a line (formats/jsonl/README.md), also with line
// ends between its values. Reads the text once and converts only named members. A text that is not
// such an object, or has a named member of another type or shape, is an error that names the
// sample, the member and the byte; the pass can continue after it (on_error).
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
