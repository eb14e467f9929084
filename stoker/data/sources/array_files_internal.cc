#include "stoker/data/sources/array_files_internal.h"

#include <utility>

#include "stoker/data/array_table_node.h"
#include "stoker/data/class_names.h"

namespace stoker {
namespace {

class ArrayFilesNode final : public ArrayTableNode, public LabelNames {
 public:
  ArrayFilesNode(std::string_view op, Spec spec, int64_t rows, std::vector<std::string> files,
                 std::vector<std::string> classes, std::vector<Array> columns)
      : ArrayTableNode(std::string(op), std::move(spec), Cardinality::Of(rows), {}),
        files_(std::move(files)),
        classes_(std::move(classes)),
        table_(std::move(columns)) {}

  std::string Details() const override { return files_.front(); }
  std::vector<std::string> files() const override { return files_; }
  std::string_view Disturbs() const override { return ""; }
  std::vector<std::string> ClassNames() const override { return classes_; }
  const ArrayTable& table() const override { return table_; }

 private:
  const std::vector<std::string> files_;
  const std::vector<std::string> classes_;
  const ArrayTable table_;
};

}  // namespace

Result<Dataset> ArrayFilesDataset(std::string_view op, const std::vector<ArrayField>& fields,
                                  std::vector<std::string> files,
                                  std::vector<std::string> classes) {
  Spec spec;
  std::vector<Array> columns;
  for (const auto& [name, where, array] : fields) {
    if (array.shape().empty())
      return InvalidArgument(
          "{}: the array is a single value; elements lie along its first dimension", where);
    if (!columns.empty() && array.shape()[0] != columns.front().shape()[0]) {
      return DataLoss("{}: {} rows, but {} has {}; the arrays do not belong together", where,
                      array.shape()[0], fields.front().where, columns.front().shape()[0]);
    }
    spec.fields.push_back(
        {name, array.dtype(), Shape(array.shape().begin() + 1, array.shape().end())});
    columns.push_back(array);
  }
  if (columns.empty())
    return InvalidArgument("{}: no fields are named; name at least one, such as image: x", op);
  const int64_t rows = columns.front().shape()[0];
  return Dataset(std::make_shared<ArrayFilesNode>(op, std::move(spec), rows, std::move(files),
                                                  std::move(classes), std::move(columns)));
}

}  // namespace stoker
