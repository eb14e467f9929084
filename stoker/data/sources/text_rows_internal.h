// Sources whose records are rows of text: CSV rows, and lines that another format fills. How rows
// are found, by position and in order, is theirs together; what a row says, a parser's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/formats/csv/row_reader.h"

namespace stoker {

// Immutable; thread-safe.
class RowParser {
 public:
  virtual ~RowParser() = default;

  // Fills the fields of the Spec from one row. `memory`: for each field of known shape where its
  // values go. `loose`: for each other field the bytes of its values, which the call sets; empty
  // where all shapes are known. Where the row is good, what is written depends on nothing else.
  // Errors: kDataLoss; the caller knows which row it is.
  virtual Status Parse(std::string_view row, std::span<std::byte* const> memory,
                       std::span<std::string> loose) const = 0;
};

struct TextRows {
  std::string_view name;  // of the operator; also of the index, up to 8 characters
  std::string files;      // as they were named
  std::vector<std::string> paths;
  CsvDialect dialect;               // what ends a row, and which lines are none
  std::vector<std::string> header;  // the cells of each file's first row; none: it is a row
  int64_t max_bytes = 0;            // longest row
  std::string index;                // stored, memory or none
  Spec spec;                        // of unknown extents, the first of a field at most
  std::shared_ptr<const RowParser> parser;
};

// A source by position where all files are plain and an index is wanted, else in order. An
// element's key is its number in all files. Rows that cannot be parsed are errors that name file,
// row and byte, and the pass can go on behind them; a file with another header is one that it
// cannot. Errors: those of opening and scanning the files.
Result<Dataset> TextRowsDataset(TextRows rows);

}  // namespace stoker
