#pragma once

#include "stoker/data/sources/table_rows_internal.h"

namespace stoker {

// The rows of Arrow IPC files, which Feather's second version is too, and of streams, as datasets
// of Hugging Face are kept on disk (formats/arrow); one file after the other. As of Parquet, with
// record batches in the place of row groups. What is not compressed is used where it lies, without
// a copy of the batch, where the file is mapped.
struct Arrow {
  static constexpr std::string_view kName = "arrow";
  static constexpr std::string_view kHelp =
      "The rows of Arrow IPC files, Feather among them, and of Arrow streams.";
  FilePatterns files;
  TableFields fields;
  int64_t cache = kChunkCacheMiB;

  static void Describe(OptionTable<Arrow>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Arrow>();

}  // namespace stoker
