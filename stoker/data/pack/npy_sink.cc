#include <filesystem>
#include <utility>
#include <vector>

#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/npy/npy_writer.h"
#include "stoker/io/atomic_file.h"

namespace stoker::internal {
namespace {

std::string FileOf(const std::string& directory, const Field& field) {
  return (std::filesystem::path(directory) / (field.name + ".npy")).string();
}

class NpySink final : public PackSink {
 public:
  NpySink(AtomicDirectory directory, std::vector<NpyWriter> columns)
      : directory_(std::move(directory)), columns_(std::move(columns)) {}

  Status Append(std::span<const Array> arrays) override {
    for (size_t f = 0; f < columns_.size(); ++f)
      STOKER_RETURN_IF_ERROR(directory_.WithFinalName(columns_[f].Append(arrays[f])));
    return OkStatus();
  }
  Status Commit() override {
    for (NpyWriter& column : columns_)
      STOKER_RETURN_IF_ERROR(directory_.WithFinalName(column.Finish()));
    return directory_.Commit();
  }

 private:
  AtomicDirectory directory_;
  std::vector<NpyWriter> columns_;
};

Status CheckNpy(const Spec& spec) {
  if (spec.fields.empty()) return InvalidArgument("elements without a field cannot be packed");
  for (const Field& field : spec.fields) {
    if (!IsFullyKnown(field.shape)) {
      return InvalidArgument(
          "npy: field '{}' has shape {}, and an array has one shape; bring elements to one "
          "(resize, pad), or pack into .stoker",
          field.name, ShapeToString(field.shape));
    }
    if (field.dtype == DType::kBFloat16) return NoNumPyType("npy", field);
    if (field.name.empty() || field.name.front() == '.' ||
        field.name.find('/') != std::string::npos) {
      return InvalidArgument("npy: field '{}' cannot name a file", field.name);
    }
  }
  return OkStatus();
}

Result<std::unique_ptr<PackSink>> CreateNpy(const PackedFile& file) {
  STOKER_ASSIGN_OR_RETURN(AtomicDirectory directory, AtomicDirectory::Create(file.path));
  std::vector<NpyWriter> columns;
  for (const Field& field : file.spec.fields) {
    Result<NpyWriter> column =
        NpyWriter::Create(FileOf(directory.path(), field), field.dtype, field.shape);
    if (!column.ok()) return directory.WithFinalName(column.status());
    columns.push_back(*std::move(column));
  }
  return std::make_unique<NpySink>(std::move(directory), std::move(columns));
}

Status ReadNpyFiles(const std::string& path, const Spec& spec, const PackedElement& each) {
  std::vector<Array> columns, row(spec.fields.size());
  for (const Field& field : spec.fields) {
    STOKER_ASSIGN_OR_RETURN(Array column, ReadNpy(FileOf(path, field)));
    Shape wanted = field.shape;
    wanted.insert(wanted.begin(), column.shape().empty() ? 0 : column.shape()[0]);
    const bool alike = columns.empty() || columns[0].shape()[0] == wanted[0];
    if (column.dtype() != field.dtype || column.shape() != wanted || !alike) {
      return DataLoss("{}: holds {}, which is not what was written", FileOf(path, field),
                      column.ToString());
    }
    columns.push_back(std::move(column));
  }
  for (int64_t i = 0; i < columns[0].shape()[0]; ++i) {
    for (size_t f = 0; f < columns.size(); ++f) row[f] = columns[f].Row(i);
    STOKER_RETURN_IF_ERROR(each(row));
  }
  return OkStatus();
}

}  // namespace

const PackFormat kNpyPackFormat = {
    .name = "npy",
    .extension = "",
    .directory = true,
    .writes =
        [](std::string_view name) { return !name.starts_with('.') && name.ends_with(".npy"); },
    .check = CheckNpy,
    .create = CreateNpy,
    .read = ReadNpyFiles};

}  // namespace stoker::internal
