#include "stoker/data/sources/array_files_internal.h"

#include <algorithm>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/check_key.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/array_table_node.h"

namespace stoker {
namespace {

class ArrayFilesNode final : public ArrayTableNode, public LabelNames {
 public:
  ArrayFilesNode(std::string_view op, Spec spec, int64_t rows, std::vector<std::string> files,
                 std::vector<std::string> classes, std::vector<ArrayField> fields)
      : ArrayTableNode(std::string(op), std::move(spec), Cardinality::Of(rows), {}),
        files_(std::move(files)),
        classes_(std::move(classes)),
        fields_(std::move(fields)),
        reads_rows_(std::ranges::any_of(
            fields_, [](const ArrayField& field) { return field.rows.has_value(); })) {}

  std::string Details() const override { return files_.front(); }
  std::vector<std::string> files() const override { return files_; }
  std::string_view Disturbs() const override { return ""; }
  std::vector<std::string> ClassNames() const override { return classes_; }
  // Loads once what is held in memory; a failure is not remembered, so that the next Open tries
  // again.
  Status Prepare(const OpenContext& context) const override {
    if (!LockUnlessStopped(loading_))
      return Cancelled("{}: asked to stop while another pass loaded it", files_.front());
    const MutexLock lock(loading_, std::adopt_lock);
    STOKER_RETURN_IF_ERROR(kept_.ChargeToIfItFits(*context.pass(), *this,
                                                  files_.front() + ": its values take", Remedy()));
    if (table_) return OkStatus();
    const Status status = Load(*context.pass());
    if (!status.ok()) kept_.Add(-kept_.bytes());
    return status;
  }
  const ArrayTable& table() const override { return *table_; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    if (!reads_rows_) return ArrayTableNode::DoRead(position, context);
    const Element kept = table_->Read(position, context.epoch());
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    Scratch scratch = context.scratch(*this);
    size_t next_kept = 0;
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (!fields_[f].rows) {
        element.arrays.push_back(kept.arrays[next_kept++]);
        continue;
      }
      Array array = scratch.NewArray(spec().fields[f].dtype, spec().fields[f].shape);
      STOKER_RETURN_IF_ERROR(ReadRowsAt(*fields_[f].rows, position,
                                        {array.data(), array.num_bytes()}, array.num_bytes()));
      element.arrays.push_back(std::move(array));
    }
    return element;
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    if (!reads_rows_) return ArrayTableNode::DoReadKey(key, context);
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    STOKER_ASSIGN_OR_RETURN(Element element, DoRead(key.index, context));
    element.key = key;
    return element;
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    if (!reads_rows_) return ArrayTableNode::DoReadRows(positions, context);
    Scratch scratch = context.scratch(*this);
    Rows rows = table_->ReadRows(positions, context.epoch(), scratch);
    std::vector<Array> kept = std::exchange(rows.columns, {});
    size_t next_kept = 0;
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (!fields_[f].rows) {
        rows.columns.push_back(std::move(kept[next_kept++]));
        continue;
      }
      STOKER_ASSIGN_OR_RETURN(Array column, ReadColumn(f, positions, scratch));
      rows.columns.push_back(std::move(column));
    }
    return rows;
  }

 private:
  // What can be done where what is loaded does not fit; empty if nothing is.
  std::string_view Remedy() const {
    for (const ArrayField& field : fields_)
      if (field.to_load) return field.to_load->remedy;
    return "";
  }

  static Status ReadRowsAt(const RowsInFile& rows, int64_t first, std::span<std::byte> out,
                           size_t row_bytes) {
    return rows.file.ReadAt(rows.at + static_cast<uint64_t>(first) * row_bytes, out);
  }

  // Rows that follow each other are read at once.
  Result<Array> ReadColumn(size_t f, std::span<const int64_t> positions, Scratch& scratch) const {
    const Field& field = spec().fields[f];
    Array column = scratch.NewRows(std::ssize(positions), field.dtype, field.shape);
    const size_t row_bytes = column.num_bytes() / positions.size();
    for (size_t begin = 0, end = 1; begin < positions.size(); begin = end++) {
      while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
      STOKER_RETURN_IF_ERROR(
          ReadRowsAt(*fields_[f].rows, positions[begin],
                     {column.data() + begin * row_bytes, (end - begin) * row_bytes}, row_bytes));
    }
    return column;
  }

  Status Load(const Pass& pass) const {
    std::vector<Array> columns;
    for (const ArrayField& field : fields_) {
      if (field.rows) continue;
      if (!field.to_load) {
        columns.push_back(field.array);
        continue;
      }
      const auto& [dtype, shape, meanwhile, remedy, load] = *field.to_load;
      const auto bytes = static_cast<int64_t>(DTypeSize(dtype)) * NumValues(shape);
      STOKER_RETURN_IF_ERROR(
          kept_.AddIfItFits(pass, bytes + meanwhile, field.where + ": its values take", remedy));
      STOKER_ASSIGN_OR_RETURN(Array array, load(kept_.account()));
      kept_.Add(-meanwhile);
      columns.push_back(std::move(array));
    }
    table_.emplace(std::move(columns));
    return OkStatus();
  }

  const std::vector<std::string> files_;
  const std::vector<std::string> classes_;
  const std::vector<ArrayField> fields_;
  const bool reads_rows_;  // of some field, row by row
  mutable Mutex loading_;
  mutable KeptMemory kept_;
  // The fields in memory. Written under the lock in Prepare, afterwards only read.
  mutable std::optional<ArrayTable> table_;
};

}  // namespace

ArrayField FieldInFile(std::string name, std::string where, const FileBytes& file, uint64_t at,
                       DType dtype, Shape shape) {
  ArrayField field{.name = std::move(name), .where = std::move(where), .array = {}};
  if (file.present() || NumValues(shape) == 0) {
    field.array = NumValues(shape) == 0
                      ? Array::Allocate(dtype, std::move(shape))
                      : Array(file.buffer(), dtype, std::move(shape), static_cast<size_t>(at));
  } else {
    field.rows = RowsInFile{.file = file, .at = at, .dtype = dtype, .shape = std::move(shape)};
  }
  return field;
}

Result<Dataset> ArrayFilesDataset(std::string_view op, const std::vector<ArrayField>& fields,
                                  std::vector<std::string> files,
                                  std::vector<std::string> classes) {
  Spec spec;
  std::optional<int64_t> rows;
  for (const ArrayField& field : fields) {
    const std::string& where = field.where;
    const Shape& shape = field.shape();
    if (shape.empty())
      return InvalidArgument(
          "{}: the array is a single value; elements lie along its first dimension", where);
    if (rows && shape[0] != *rows) {
      return DataLoss("{}: {} rows, but {} has {}; the arrays do not belong together", where,
                      shape[0], fields.front().where, *rows);
    }
    rows = shape[0];
    spec.fields.push_back({field.name, field.dtype(), Shape(shape.begin() + 1, shape.end())});
  }
  if (!rows)
    return InvalidArgument("{}: no fields are named; name at least one, such as image: x", op);
  return Dataset(std::make_shared<ArrayFilesNode>(op, std::move(spec), *rows, std::move(files),
                                                  std::move(classes), fields));
}

}  // namespace stoker
