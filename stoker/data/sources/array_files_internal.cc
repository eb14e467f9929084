#include "stoker/data/sources/array_files_internal.h"

#include <mutex>
#include <utility>

#include "stoker/data/array_table_node.h"
#include "stoker/data/class_names.h"
#include "stoker/data/kept_memory.h"
#include "stoker/data/runtime.h"

namespace stoker {
namespace {

class ArrayFilesNode final : public ArrayTableNode, public LabelNames {
 public:
  ArrayFilesNode(std::string_view op, Spec spec, int64_t rows, std::vector<std::string> files,
                 std::vector<std::string> classes, std::vector<ArrayField> fields)
      : ArrayTableNode(std::string(op), std::move(spec), Cardinality::Of(rows), {}),
        files_(std::move(files)),
        classes_(std::move(classes)),
        fields_(std::move(fields)) {}

  std::string Details() const override { return files_.front(); }
  std::vector<std::string> files() const override { return files_; }
  std::string_view Disturbs() const override { return ""; }
  std::vector<std::string> ClassNames() const override { return classes_; }
  // Loads once what is held in memory; a failure is not remembered, so that the next Open tries
  // again.
  Status Prepare(const OpenContext& context) const override {
    std::lock_guard lock(loading_);
    kept_.ChargeTo(*context.pass(), *this);
    if (table_) return OkStatus();
    const Status status = Load(*context.pass());
    if (!status.ok()) kept_.Add(-kept_.bytes());
    return status;
  }
  const ArrayTable& table() const override { return *table_; }

 private:
  Status Load(const Pass& pass) const {
    std::vector<Array> columns;
    for (const ArrayField& field : fields_) {
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
  mutable std::mutex loading_;
  mutable KeptMemory kept_;
  // Written under the lock in Prepare, afterwards only read.
  mutable std::optional<ArrayTable> table_;
};

}  // namespace

Result<Dataset> ArrayFilesDataset(std::string_view op, const std::vector<ArrayField>& fields,
                                  std::vector<std::string> files,
                                  std::vector<std::string> classes) {
  Spec spec;
  std::optional<int64_t> rows;
  for (const auto& [name, where, array, to_load] : fields) {
    const Shape& shape = to_load ? to_load->shape : array.shape();
    if (shape.empty())
      return InvalidArgument(
          "{}: the array is a single value; elements lie along its first dimension", where);
    if (rows && shape[0] != *rows) {
      return DataLoss("{}: {} rows, but {} has {}; the arrays do not belong together", where,
                      shape[0], fields.front().where, *rows);
    }
    rows = shape[0];
    spec.fields.push_back(
        {name, to_load ? to_load->dtype : array.dtype(), Shape(shape.begin() + 1, shape.end())});
  }
  if (!rows)
    return InvalidArgument("{}: no fields are named; name at least one, such as image: x", op);
  return Dataset(std::make_shared<ArrayFilesNode>(op, std::move(spec), *rows, std::move(files),
                                                  std::move(classes), fields));
}

}  // namespace stoker
