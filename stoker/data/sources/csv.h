#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/sources/csv_fields_internal.h"

namespace stoker {

// Reads the rows of CSV or TSV files (formats/csv) in order; plain or compressed. A
// field is a column, or several columns together; without `fields` each column is a field, of a
// type inferred from the first 100 rows. Numbers become arrays of their type, texts uint8[-1]; an
// empty cell, or one in `na_values`, is missing and becomes the default of its field. A delimiter
// that is not given is inferred from the first rows; the stage reports it unless it is a comma, or
// a tab in a file named so.
//
// Plain files are read by position, with an index that one scan makes and that is stored beside
// each file (formats/offset_index). An element's key is its number in all files. If a file is
// compressed, or `index` is none, rows are read in order; the state is a file and a byte.
//
// A row that cannot be read is an error that names file, row, byte and column; the pass can
// continue after it (on_error). All files must have the columns of the first, and the same header
// or none; a difference is an error that names both files.
struct Csv {
  static constexpr std::string_view kName = "csv";
  static constexpr std::string_view kHelp =
      "The rows of CSV or TSV files: numbers and texts by column; plain or compressed.";
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
