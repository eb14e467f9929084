#pragma once

#include "stoker/data/sources/table_rows_internal.h"

namespace stoker {

// The rows of Parquet files (formats/arrow), one file after the other. Without `fields` every
// column is one, and of structs each of their fields, by its path: `meta.id`.
//
// By position: opening reads the footers, no values. Rows are decoded by row groups: read in order
// each is decoded once. An exact `shuffle` of row groups that do not fit into `cache` decodes one
// for nearly every batch; `shuffle: {window: ..., page: ...}` with pages of as many rows as a row
// group has (`stoker inspect` shows it) and a window whose groups fit decodes each once.
//
//   cache  MiB of decoded row groups that the dataset keeps, for all passes together, within half
//          of their memory budget
//
// The files must not be changed meanwhile. Errors: those of TableRowsDataset.
struct Parquet {
  static constexpr std::string_view kName = "parquet";
  static constexpr std::string_view kHelp = "The rows of Parquet files.";
  FilePatterns files;
  TableFields fields;
  int64_t cache = kChunkCacheMiB;

  static void Describe(OptionTable<Parquet>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Parquet>();

}  // namespace stoker
