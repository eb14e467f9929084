// Arrow's arrays, as many as a group has of a column, become one DecodedColumn.
#pragma once

#include <arrow/array.h>
#include <arrow/buffer_builder.h>
#include <arrow/record_batch.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/formats/arrow/arrow_reading_plugin.h"
#include "stoker/formats/arrow/column_plan_plugin.h"

namespace stoker {

// The column of `plan` in a batch that has it, whatever else; of a struct that is null its fields
// are too.
arrow::Result<std::shared_ptr<arrow::Array>> FindColumn(const arrow::RecordBatch& batch,
                                                        const ColumnPlan& plan,
                                                        arrow::MemoryPool* pool);

// One column of one group. `plan` and `pool` must outlive it. Errors: kInvalid for an array that is
// not as its type says, else those of the pool.
class ColumnDecoder {
 public:
  ColumnDecoder(const ColumnPlan& plan, const std::optional<std::string>& null_value,
                std::shared_ptr<LimitedPool> pool);

  // Room for `rows` rows, and so many bytes of rows that differ in length.
  arrow::Status Reserve(int64_t rows, int64_t ragged_bytes);
  arrow::Status Append(const std::shared_ptr<arrow::Array>& array);
  // The same for all rows of the group at once, sharing the array's memory where the values lie
  // there as they are wanted.
  arrow::Status AppendOrShare(const std::shared_ptr<arrow::Array>& array);

  // After Reserve, of rows that have one size: where the caller may write values that it has not
  // from an array, and that it has written so many rows.
  uint8_t* Room() { return values_.mutable_data(); }
  void Filled(int64_t rows) {
    values_.UnsafeAdvance(rows * static_cast<int64_t>(plan_.item_bytes()));
    rows_ += rows;
  }

  int64_t rows() const { return rows_; }
  arrow::Status Finish(DecodedGroup& group);

 private:
  arrow::Status AppendRows(const arrow::Array& array);
  arrow::Status AppendRow(const arrow::Array& array, int64_t row);
  arrow::Status AppendItems(const arrow::Array& array, size_t level, int64_t begin, int64_t count);
  arrow::Status AppendValues(const arrow::Array& array, int64_t begin, int64_t count);
  arrow::Status AppendPlain(const arrow::Array& array, int64_t begin, int64_t count);
  arrow::Status AppendTexts(const arrow::Array& array);
  arrow::Status AppendNulls(int64_t values);
  arrow::Status EndRow();
  bool ShareFixed(const std::shared_ptr<arrow::Array>& array);
  template <typename T>
  arrow::Status Widen(const arrow::Array& array, int64_t begin, int64_t count);

  const ColumnPlan& plan_;
  const std::optional<std::string> null_value_;
  const std::shared_ptr<LimitedPool> pool_;
  int64_t rows_ = 0;
  arrow::BufferBuilder values_;
  arrow::TypedBufferBuilder<int64_t> offsets_;
  arrow::BufferBuilder faulty_;      // of FaultyRow
  std::optional<TableFault> fault_;  // of the row under way
  std::shared_ptr<arrow::Array> shared_;
  const std::byte* shared_values_ = nullptr;
};

}  // namespace stoker
