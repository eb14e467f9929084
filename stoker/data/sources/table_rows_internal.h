// Sources whose elements are rows of tables: Parquet and Arrow.
#pragma once

#include <string_view>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/sources/chunked_rows_internal.h"
#include "stoker/data/sources/table_plan_internal.h"

namespace stoker {

inline constexpr std::string_view kTableFieldsHelp =
    "what to take: {image: img, label: {column: y, nulls: 0}, id: meta.id}; empty: every column";
inline constexpr std::string_view kTableCacheHelp =
    "MiB of decoded groups of rows that are kept, within half of the memory budget; a windowed "
    "shuffle wants all groups of a window";

struct TableRowsOptions {
  TableFormat format = TableFormat::kParquet;
  std::string_view op;  // the operator's name
  FilePatterns files;
  TableFields fields;
  int64_t cache_mib = kChunkCacheMiB;
};

// The rows of the files, one file after the other, by position; an element's key is its row in all
// files. A group of rows is decoded as a whole, by whichever thread needs one of its rows first,
// and kept in a cache of the dataset's, for which memory is set aside when a pass is opened;
// kResourceExhausted where one group does not fit. A row with a null, and each row of a damaged
// group, is an error that names file and row; the others can be read (on_error). Errors: those of
// OpenTableFile; kInvalidArgument for columns that are not there or cannot be read, and where files
// disagree.
Result<Dataset> TableRowsDataset(const TableRowsOptions& options);

}  // namespace stoker
