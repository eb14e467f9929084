// Parquet and Arrow IPC files, as tables: columns of rows in groups that are decoded one at a time.
//
// Apache Arrow reads them, in a plug-in that is loaded when the first such file is opened
// (README.md). This header includes none of Arrow's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

enum class TableFormat : uint8_t {
  kParquet,
  kArrow,  // IPC: files ("ARROW1", Feather) and streams
};

// A column, or a field of a struct in one, and what its rows become.
struct TableColumn {
  std::string path;  // "label", "meta.id"
  std::string type;  // as Arrow writes it: "list<element: int64>"
  DType dtype = DType::kUInt8;
  Shape row_shape;     // where rows differ in length the first extent is -1, and no other
  std::string unread;  // why Stoker has no arrays for it; empty where it has
  // Of struct{bytes, path}, as datasets of Hugging Face keep pictures, the column has the bytes;
  // this is the path of the column with the name of each row's file. Else empty.
  std::string names;
};

// A column that is wanted.
struct TableWish {
  std::string path;  // of a TableColumn
  // What stands for a null: the bytes of one value of the dtype, or the text of a row of texts.
  // Nothing: a row with a null has no value.
  std::optional<std::string> null_value;
};

// Why a row has no value.
enum class TableFault : uint8_t {
  kNull,      // it is null, or a value in it is
  kTooLarge,  // an unsigned number of 64 bits is beyond int64
};
struct FaultyRow {
  int64_t row;  // in its group
  TableFault fault;
};

// The values of one column of one group, C order. A faulty row has values of no meaning.
struct DecodedColumn {
  const std::byte* values = nullptr;
  // Where rows differ in length: rows + 1 numbers. Row i has the items [offsets[i],
  // offsets[i + 1]), of DTypeSize(dtype) times the product of the other extents bytes each.
  const int64_t* offsets = nullptr;
  std::span<const FaultyRow> faulty;  // sorted by row
};

// Columns in the order of the wishes. Immutable.
struct DecodedGroup {
  int64_t rows = 0;
  std::vector<DecodedColumn> columns;
  uint64_t bytes = 0;  // of memory that it takes; of columns that lie in a mapped file none
  std::vector<std::shared_ptr<const void>> owners;
};

struct TableReadOptions {
  uint64_t most_bytes = 0;        // of memory, at any moment
  std::function<bool()> stopped;  // asked many times a second, on any thread; may be empty
};

// Immutable; const calls are safe from several threads.
class TableFile {
 public:
  virtual ~TableFile() = default;

  // In the order of the file, of a struct each of its fields.
  virtual const std::vector<TableColumn>& columns() const = 0;
  // The rows of each group: row groups of Parquet, record batches of Arrow IPC.
  virtual const std::vector<int64_t>& group_rows() const = 0;
  // A column by its path; "image.bytes" of what is listed as "image" too. Null where there is none.
  virtual const TableColumn* Find(std::string_view path) const = 0;

  // What is kept of the file's description while it is open, about: schema, groups, statistics.
  virtual uint64_t DescriptionBytes() const = 0;
  // What a group, decoded, takes; of texts and lists about, by what the file says.
  virtual uint64_t DecodedBytes(int64_t group, std::span<const TableWish> wishes) const = 0;
  // What decoding one takes beside it, meanwhile.
  virtual uint64_t BytesToDecode(int64_t group, std::span<const TableWish> wishes) const = 0;

  // Decodes the columns of a group; the checksums of pages that have some are verified. The wishes
  // name columns that can be read. Errors: kDataLoss with file, group and column;
  // kResourceExhausted where it would take more than most_bytes; kCancelled.
  virtual Result<std::shared_ptr<const DecodedGroup>> ReadGroup(
      int64_t group, std::span<const TableWish> wishes, const TableReadOptions& options) const = 0;
  // Reads and decompresses what the file has of a column in a group, whatever its type, and
  // verifies checksums, but makes no values of it. Errors: those of ReadGroup.
  virtual Status CheckGroup(int64_t group, std::string_view path,
                            const TableReadOptions& options) const = 0;
};

// Opens a file, as io/file_bytes.h says: schema and where groups lie, no values. Loads the plug-in.
// Errors: kUnavailable where there is no plug-in, or where another version of Arrow's library is in
// the process; kResourceExhausted where its description alone would take more than the memory
// budget of the process (base/default_budget.h); kDataLoss for a file that is damaged, cut short or
// of another kind; kUnimplemented for what is encrypted, and for Feather's first version.
Result<std::shared_ptr<const TableFile>> OpenTableFile(TableFormat format, const std::string& path);

// "Parquet", "Arrow".
inline std::string_view TableFormatName(TableFormat format) {
  return format == TableFormat::kParquet ? "Parquet" : "Arrow";
}
// What a group is called: "row group", "record batch".
inline std::string_view TableGroupName(TableFormat format) {
  return format == TableFormat::kParquet ? "row group" : "record batch";
}

// About what a footer of Parquet takes in memory, for each of its bytes: 9 to 12 were measured, for
// files of many groups.
inline constexpr uint64_t kParquetFooterGrowth = 10;

// Descriptions of up to this many bytes count as the program's own memory, not as the data's: a
// budget for a few rows is no reason to refuse the file.
inline constexpr uint64_t kSmallDescriptions = 1 << 20;

// Whether one of these libraries, by their paths, is an Arrow other than `ours` ("libarrow.so.1"):
// two in one process would mix up what they keep. The message names it.
Status CheckNoOtherArrow(std::span<const std::string> loaded, std::string_view ours);

}  // namespace stoker
