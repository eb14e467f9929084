// Sources whose records are rows of text: CSV rows, and lines of other formats. They share how rows
// are found, by position and in order; a parser interprets a row.
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

  // Fills the fields of the Spec from one row. `memory`: the destination of each field of known
  // shape. `loose`: receives the bytes of each other field; empty if all shapes are known. The
  // result of a good row depends on nothing but the row. Errors: kDataLoss; the caller adds the
  // row.
  virtual Status Parse(std::string_view row, std::span<std::byte* const> memory,
                       std::span<std::string> loose) const = 0;
};

// The most that a source takes as `max_bytes`.
constexpr double kMostRowBytes = 1 << 30;

struct TextRows {
  std::string_view name;  // of the operator; also of the index, up to 8 characters
  std::string files;      // as given
  std::vector<std::string> paths;
  CsvDialect dialect;               // the ends of rows, and lines that are not rows
  std::vector<std::string> header;  // the cells of each file's first row; empty: no header
  int64_t max_bytes = 0;            // longest row
  std::string index;                // stored, memory or none
  Spec spec;                        // only a field's first extent may be unknown
  std::shared_ptr<const RowParser> parser;
};

// Makes a source, by position if all files are plain and an index is wanted, else in order. An
// element's key is its number in all files. Rows that cannot be parsed are errors that name file,
// row and byte, after which the pass can continue; after a file with another header it cannot.
// Errors: those of opening and scanning the files.
Result<Dataset> TextRowsDataset(TextRows rows);

}  // namespace stoker
