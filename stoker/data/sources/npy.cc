#include "stoker/data/sources/npy.h"

#include "stoker/data/array_table_node.h"
#include "stoker/formats/npy/npy.h"

namespace stoker {
namespace {

class NpyNode final : public ArrayTableNode {
 public:
  NpyNode(Spec spec, int64_t rows, std::vector<std::string> paths, std::vector<Array> columns)
      : ArrayTableNode(std::string(Npy::kName), std::move(spec), Cardinality::Of(rows), {}),
        paths_(std::move(paths)),
        table_(std::move(columns)) {}

  std::string Details() const override { return paths_.front(); }
  std::vector<std::string> files() const override { return paths_; }
  std::string_view Disturbs() const override { return ""; }
  const ArrayTable& table() const override { return table_; }

 private:
  const std::vector<std::string> paths_;
  const ArrayTable table_;
};

}  // namespace

Status NamedFiles::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap)
    return InvalidArgument("{} is not a map of paths, such as {{image: images.npy}}",
                           node.KindName());
  files_.clear();
  for (const ConfigNode::Entry& entry : node.entries) {
    std::string path;
    STOKER_RETURN_IF_ERROR(ReadOption(entry.value, path));
    files_.emplace_back(entry.key, path);
  }
  return OkStatus();
}

ConfigNode NamedFiles::Write() const {
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [name, path] : files_) entries.push_back({name, {}, WriteOption(path)});
  return ConfigNode::Map(std::move(entries));
}

void NamedFiles::Resolve(const std::filesystem::path& root) {
  for (auto& [name, text] : files_) {
    std::filesystem::path path = text;
    ResolvePath(path, root);
    text = path.string();
  }
}

void Npy::Describe(OptionTable<Npy>&) {}

template <>
const std::vector<Option>& OptionsOf<Npy>() {
  static const auto options = WithObjects<Npy>(
      {ObjectOption("fields", &Npy::fields, "a file for each field: {image: x.npy, label: y.npy}",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Npy::Build() const {
  if (fields.files().empty())
    return InvalidArgument("npy: no fields are named; name at least one, such as image: x.npy");
  Spec spec;
  std::vector<std::string> paths;
  std::vector<Array> columns;
  for (const auto& [name, path] : fields.files()) {
    STOKER_ASSIGN_OR_RETURN(Array array, ReadNpy(path));
    if (array.shape().empty())
      return InvalidArgument(
          "{}: the array is a single value; elements lie along its first dimension", path);
    if (!columns.empty() && array.shape()[0] != columns.front().shape()[0]) {
      return DataLoss("{}: {} rows, but {} has {}; the files do not belong together", path,
                      array.shape()[0], paths.front(), columns.front().shape()[0]);
    }
    spec.fields.push_back(
        {name, array.dtype(), Shape(array.shape().begin() + 1, array.shape().end())});
    paths.push_back(path);
    columns.push_back(std::move(array));
  }
  const int64_t rows = columns.front().shape()[0];
  return Dataset(
      std::make_shared<NpyNode>(std::move(spec), rows, std::move(paths), std::move(columns)));
}

}  // namespace stoker
