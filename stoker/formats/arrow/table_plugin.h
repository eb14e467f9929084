// What the two formats of libstoker_arrow.so share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/formats/arrow/arrow_plugin.h"
#include "stoker/formats/arrow/column_decoder_plugin.h"

namespace parquet::arrow {
class FileReader;
}

namespace stoker {

// A file whose columns are planned. Sub-classes say where groups lie and how one is read.
class PlannedTable : public TableFile {
 public:
  const std::vector<TableColumn>& columns() const final { return listed_; }
  const std::vector<int64_t>& group_rows() const final { return group_rows_; }
  const TableColumn* Find(std::string_view path) const final;
  Result<std::shared_ptr<const DecodedGroup>> ReadGroup(
      int64_t group, std::span<const TableWish> wishes,
      const TableReadOptions& options) const final;
  Status CheckGroup(int64_t group, std::string_view path,
                    const TableReadOptions& options) const final;

 protected:
  explicit PlannedTable(std::shared_ptr<const TableInput> input) : input_(std::move(input)) {}

  void SetColumns(std::vector<ColumnPlan> plans);
  // Refuses numbers that cannot be.
  Status SetGroupRows(std::vector<int64_t> rows);

  const std::string& name() const { return input_->name(); }
  const std::shared_ptr<const TableInput>& input() const { return input_; }
  const std::vector<ColumnPlan>& plans() const { return plans_; }
  // "a.parquet: row group 3"
  std::string NameOfGroup(int64_t group) const;

  // What the columns of a group are read from.
  struct Reading {
    int64_t group;
    std::shared_ptr<InputFile> file;
    std::shared_ptr<LimitedPool> pool;
    std::shared_ptr<arrow::RecordBatch> batch = nullptr;           // of Arrow
    std::shared_ptr<parquet::arrow::FileReader> opened = nullptr;  // of Parquet
  };
  virtual arrow::Status BeginGroup(Reading& reading,
                                   const std::vector<const ColumnPlan*>& wanted) const = 0;
  virtual arrow::Status ReadColumn(Reading& reading, const ColumnPlan& plan,
                                   ColumnDecoder& decoder) const = 0;
  // What CheckGroup does beyond BeginGroup.
  virtual arrow::Status CheckColumn(Reading& reading, const ColumnPlan& plan) const = 0;
  virtual TableFormat format() const = 0;

 private:
  const std::shared_ptr<const TableInput> input_;
  std::vector<ColumnPlan> plans_;
  std::vector<TableColumn> listed_;
  std::vector<int64_t> group_rows_;
};

// Errors: those of OpenTableFile.
Result<std::shared_ptr<const TableFile>> OpenParquet(std::shared_ptr<const TableInput> input);
Result<std::shared_ptr<const TableFile>> OpenArrow(std::shared_ptr<const TableInput> input);

// The first `bytes` bytes of the file, or as many as it has.
Result<std::string> ReadStart(const TableInput& input, size_t bytes);

}  // namespace stoker
