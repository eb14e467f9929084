// Parquet files.
#include <arrow/table.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/size_statistics.h>

#include <algorithm>
#include <utility>

#include "stoker/formats/arrow/dense_column_plugin.h"
#include "stoker/formats/arrow/table_plugin.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kEncrypted = "PARE";
constexpr double kBatchValues = 96 << 10;  // decoded at once, about: what a core keeps in its cache
constexpr int64_t kMostBatchRows = 64 << 10;
constexpr int64_t kReadBytes = 1 << 20;  // at once, where the file is not mapped
// What Arrow takes for each value of a batch, two levels and forms of the value in between, and for
// a page, what it becomes, and a dictionary.
constexpr double kBytesOfValue = 24, kFormsOfPage = 4, kBytesOfPages = 8 << 20;
constexpr uint64_t kOffsetBytes = 8;

parquet::ReaderProperties PropertiesFor(const TableInput& input, arrow::MemoryPool* pool) {
  parquet::ReaderProperties properties(pool);
  properties.set_page_checksum_verification(true);
  // A column of a group as a whole would be memory that nobody charges.
  if (input.present() == nullptr) {
    properties.enable_buffered_stream();
    properties.set_buffer_size(kReadBytes);
  }
  return properties;
}

// On the calling thread, which is the one that can be asked to stop.
parquet::ArrowReaderProperties ArrowPropertiesFor(int64_t batch_rows) {
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_pre_buffer(false);
  properties.set_batch_size(batch_rows);
  return properties;
}

void AddLeaves(const parquet::arrow::SchemaField& field, std::vector<int>& leaves) {
  if (field.is_leaf()) leaves.push_back(field.column_index);
  for (const parquet::arrow::SchemaField& child : field.children) AddLeaves(child, leaves);
}

// The columns of Parquet that a planned one is made of.
arrow::Result<std::vector<int>> LeavesOf(const parquet::arrow::SchemaManifest& manifest,
                                         const ColumnPlan& plan) {
  const std::vector<parquet::arrow::SchemaField>* fields = &manifest.schema_fields;
  const parquet::arrow::SchemaField* found = nullptr;
  for (const std::string& step : plan.steps) {
    const auto next = std::ranges::find_if(
        *fields, [&](const auto& field) { return field.field->name() == step; });
    if (next == fields->end()) return arrow::Status::Invalid("field '", step, "' is missing");
    found = &*next;
    fields = &next->children;
  }
  std::vector<int> leaves;
  AddLeaves(*found, leaves);
  return leaves;
}

class ParquetTable final : public PlannedTable {
 public:
  explicit ParquetTable(std::shared_ptr<const TableInput> input) : PlannedTable(std::move(input)) {}

  Status Open() {
    STOKER_RETURN_IF_ERROR(CheckMagic());
    const auto file = std::make_shared<InputFile>(input(), arrow::system_memory_pool());
    const LimitedPool unused({.most_bytes = 0, .stopped = {}});
    std::vector<int64_t> rows;
    STOKER_RETURN_IF_ERROR(Guarded(name(), *file, unused, [&] {
      auto reader = parquet::ParquetFileReader::Open(
          file, PropertiesFor(*input(), arrow::system_memory_pool()));
      metadata_ = reader->metadata();
      for (int group = 0; group < metadata_->num_row_groups(); ++group)
        rows.push_back(metadata_->RowGroup(group)->num_rows());
      return Plan(std::move(reader));
    }));
    return SetGroupRows(std::move(rows));
  }

  uint64_t DescriptionBytes() const override {
    return static_cast<uint64_t>(metadata_->size()) * kParquetFooterGrowth;
  }
  uint64_t DecodedBytes(int64_t group, std::span<const TableWish> wishes) const override {
    const auto rows = static_cast<uint64_t>(group_rows().at(static_cast<size_t>(group)));
    double bytes = 0;
    for (const TableWish& wish : wishes) {
      const size_t at = static_cast<size_t>(FindPlan(plans(), wish.path) - plans().data());
      const ColumnPlan& plan = plans()[at];
      bytes += static_cast<double>(rows) *
               static_cast<double>(plan.ragged ? kOffsetBytes : plan.item_bytes());
      if (plan.ragged) bytes += RaggedBytes(group, leaves_[at]);
    }
    return static_cast<uint64_t>(std::min(bytes, 0x1p62));
  }
  uint64_t BytesToDecode(int64_t group, std::span<const TableWish> wishes) const override {
    double most = 0;
    for (const TableWish& wish : wishes) {
      const ColumnPlan& plan = *FindPlan(plans(), wish.path);
      const double of_row = ValuesOfRow(group, plan);
      const auto rows = static_cast<double>(group_rows().at(static_cast<size_t>(group)));
      most = std::max({most, std::min(kBatchValues, of_row * rows), of_row});
    }
    const auto encoded =
        static_cast<double>(metadata_->RowGroup(static_cast<int>(group))->total_byte_size());
    const double pages =
        std::clamp(encoded * kFormsOfPage, static_cast<double>(2 * kReadBytes), kBytesOfPages);
    return static_cast<uint64_t>(std::min(0x1p60, most * kBytesOfValue + pages));
  }

 protected:
  TableFormat format() const override { return TableFormat::kParquet; }

  arrow::Status BeginGroup(Reading& reading, const std::vector<const ColumnPlan*>&) const override {
    ARROW_ASSIGN_OR_RAISE(
        reading.opened,
        parquet::arrow::FileReader::Make(
            reading.pool.get(),
            parquet::ParquetFileReader::Open(
                reading.file, PropertiesFor(*input(), reading.pool.get()), metadata_),
            ArrowPropertiesFor(1)));
    return arrow::Status::OK();
  }

  // In batches, between which the pass can be stopped, so that two forms of all values never stand
  // side by side.
  arrow::Status ReadColumn(Reading& reading, const ColumnPlan& plan,
                           ColumnDecoder& decoder) const override {
    const auto at = static_cast<size_t>(&plan - plans().data());
    const int64_t rows = group_rows()[static_cast<size_t>(reading.group)];
    const double ragged = plan.ragged ? RaggedBytes(reading.group, leaves_[at]) : 0;
    const double values = std::max(1.0, ValuesOfRow(reading.group, plan));
    const auto batch_rows =
        std::clamp(static_cast<int64_t>(kBatchValues / values), int64_t{1}, kMostBatchRows);
    ARROW_RETURN_NOT_OK(decoder.Reserve(rows, static_cast<int64_t>(std::min(ragged, 0x1p40))));
    if (MayBeDense(plan) && leaves_[at].size() == 1) {
      const auto group =
          reading.opened->parquet_reader()->RowGroup(static_cast<int>(reading.group));
      ARROW_ASSIGN_OR_RAISE(const bool dense, ReadDenseColumn(*group, leaves_[at].front(), plan,
                                                              rows, *reading.pool, decoder.Room()));
      if (dense) {
        decoder.Filled(rows);
        return arrow::Status::OK();
      }
    }
    reading.opened->set_batch_size(batch_rows);
    ARROW_ASSIGN_OR_RAISE(
        const std::unique_ptr<arrow::RecordBatchReader> batches,
        reading.opened->GetRecordBatchReader({static_cast<int>(reading.group)}, leaves_[at]));
    while (!reading.pool->stopped()) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
      if (batch == nullptr) return arrow::Status::OK();
      ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> array,
                            FindColumn(*batch, plan, reading.pool.get()));
      ARROW_RETURN_NOT_OK(decoder.Append(array));
    }
    return arrow::Status::Cancelled("asked to stop");
  }

  arrow::Status CheckColumn(Reading& reading, const ColumnPlan& plan) const override {
    const auto group = reading.opened->parquet_reader()->RowGroup(static_cast<int>(reading.group));
    for (const int leaf : leaves_[static_cast<size_t>(&plan - plans().data())]) {
      const auto pages = group->GetColumnPageReader(leaf);
      while (pages->NextPage() != nullptr) {
        if (reading.pool->stopped()) return arrow::Status::Cancelled("asked to stop");
      }
    }
    return arrow::Status::OK();
  }

 private:
  Status CheckMagic() const {
    STOKER_ASSIGN_OR_RETURN(const std::string start, ReadStart(*input(), kMagic.size()));
    if (start == kEncrypted)
      return Unimplemented("{}: the file is encrypted; write it without encryption", name());
    if (start != kMagic)
      return DataLoss("{}: byte 0: this is no Parquet file, which begins with PAR1; check the path",
                      name());
    std::string end(kMagic.size(), '\0');
    if (input()->size() >= 3 * kMagic.size()) {
      STOKER_RETURN_IF_ERROR(
          input()->ReadAt(input()->size() - end.size(), std::as_writable_bytes(std::span(end))));
    }
    if (end == kEncrypted)
      return Unimplemented("{}: the file is encrypted; write it without encryption", name());
    if (end != kMagic)
      return DataLoss(
          "{}: byte {}: the file is cut short: it does not end with PAR1; fetch it again", name(),
          input()->size());
    return OkStatus();
  }

  arrow::Status Plan(std::unique_ptr<parquet::ParquetFileReader> reader) {
    ARROW_ASSIGN_OR_RAISE(
        const std::unique_ptr<parquet::arrow::FileReader> file,
        parquet::arrow::FileReader::Make(arrow::system_memory_pool(), std::move(reader),
                                         ArrowPropertiesFor(1)));
    std::shared_ptr<arrow::Schema> schema;
    ARROW_RETURN_NOT_OK(file->GetSchema(&schema));
    SetColumns(PlanColumns(*schema));
    for (const ColumnPlan& plan : plans()) {
      ARROW_ASSIGN_OR_RAISE(std::vector<int> leaves, LeavesOf(file->manifest(), plan));
      leaves_.push_back(std::move(leaves));
    }
    return arrow::Status::OK();
  }

  // Of rows that differ in length about, on average.
  double ValuesOfRow(int64_t group, const ColumnPlan& plan) const {
    if (!plan.ragged) return static_cast<double>(plan.values_of_item());
    const int64_t rows = std::max<int64_t>(1, group_rows()[static_cast<size_t>(group)]);
    return RaggedBytes(group, leaves_[static_cast<size_t>(&plan - plans().data())]) /
           static_cast<double>(rows);
  }

  // The values of a ragged column, in bytes: as the file states it, else what its pages hold, which
  // is less where they refer to a dictionary.
  double RaggedBytes(int64_t group, const std::vector<int>& leaves) const {
    const auto row_group = metadata_->RowGroup(static_cast<int>(group));
    double bytes = 0;
    for (const int leaf : leaves) {
      const auto chunk = row_group->ColumnChunk(leaf);
      const auto statistics = chunk->size_statistics();
      const bool stated =
          statistics != nullptr && statistics->unencoded_byte_array_data_bytes.has_value();
      bytes += static_cast<double>(
          std::max<int64_t>(0, stated ? *statistics->unencoded_byte_array_data_bytes
                                      : chunk->total_uncompressed_size()));
    }
    return bytes;
  }

  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::vector<std::vector<int>> leaves_;  // of each plan
};

}  // namespace

Result<std::shared_ptr<const TableFile>> OpenParquet(std::shared_ptr<const TableInput> input) {
  auto table = std::make_shared<ParquetTable>(std::move(input));
  STOKER_RETURN_IF_ERROR(table->Open());
  return std::shared_ptr<const TableFile>(std::move(table));
}

}  // namespace stoker
