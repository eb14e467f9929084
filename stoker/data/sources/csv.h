#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/sources/csv_fields_internal.h"

namespace stoker {

// The rows of CSV or TSV files (formats/csv), one file after the other; plain, gzip, zstd, xz or
// bzip2. Fields are columns, or several columns together; without `fields` each column is one, of a
// type that the first 100 rows tell. Numbers become arrays of their type, texts uint8[-1]; what is
// missing, in an empty cell or one that `na_values` lists, the default of its field. A delimiter
// that is not named is the one that makes columns of the first rows; the stage says so where it is
// neither a comma nor by the file's name a tab.
//
// Plain files are read by position, through an index that one scan makes and that is kept beside
// each file (formats/offset_index), and where all fields are numbers many rows are parsed at once,
// straight into the batch. An element's key is its number in all files. Where one is compressed, or
// `index` is none, rows are read in order, by one thread at a time; the state is a file and a byte.
//
// A row that cannot be read is an error that names file, row, byte and column, and the pass can go
// on behind it (on_error). All files have the columns of the first; each has the same header, or
// none has: another, or none if the first has one, is an error that names both files.
struct Csv {
  static constexpr std::string_view kName = "csv";
  static constexpr std::string_view kHelp =
      "The rows of CSV or TSV files: numbers and texts by column; plain, .gz, .zst, .xz or .bz2.";
  FilePatterns files;
  CsvFields fields;
  std::string header = "auto";
  std::string delimiter = "auto";
  std::string quote = "\"";
  std::string comment;
  std::vector<std::string> na_values;
  std::string index = "stored";
  int64_t max_bytes = 16 << 20;

  static void Describe(OptionTable<Csv>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Csv>();

}  // namespace stoker
