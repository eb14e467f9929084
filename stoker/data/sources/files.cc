#include "stoker/data/sources/files.h"

#include <cstring>

#include "stoker/data/core/read_singly.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/sources/text_table_internal.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

Spec SpecOf(const Files& files) {
  Spec spec;
  if (files.read)
    spec.fields.push_back({"bytes", DType::kUInt8, {files.size.value_or(kUnknownDim)}});
  if (files.paths || !files.read) spec.fields.push_back({"path", DType::kUInt8, {kUnknownDim}});
  return spec;
}

class FilesNode final : public ByPositionNode, public SampleNames {
 public:
  FilesNode(const Files& files, const std::vector<std::string>& paths)
      : ByPositionNode(Files::kName, SpecOf(files), Cardinality::Of(std::ssize(paths))),
        files_(files) {
    for (const std::string& path : paths) paths_.Add(path);
  }

  std::string Details() const override { return files_.path.ToString(); }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return count == 1 ? spec().BytesApart(1) : spec().BytesTogether(count);
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> paths;
    for (int64_t i = 0; i < cardinality().value(); ++i) paths.push_back(PathOf(i));
    return paths;
  }
  std::string NameOf(int64_t index, std::string_view field) const override {
    const bool here = index >= 0 && index < paths_.size() && field == "bytes";
    return here ? PathOf(index) : "";
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    const std::string path = PathOf(position);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    if (files_.read) {
      STOKER_ASSIGN_OR_RETURN(const File file, OpenFile(path));
      element.arrays.push_back(
          scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(file.size())}));
      STOKER_RETURN_IF_ERROR(ReadInto(file, element.arrays.back().data()));
    }
    if (files_.paths || !files_.read) {
      Array name = scratch.NewArray(DType::kUInt8, {std::ssize(path)});
      std::memcpy(name.data(), path.data(), path.size());
      element.arrays.push_back(std::move(name));
    }
    return element;
  }

  // Files of one size are read straight into the column.
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    if (!files_.size || files_.paths) return DatasetNode::DoReadRows(positions, context);
    Scratch scratch = context.scratch(*this);
    Array column = scratch.NewArray(DType::kUInt8, {std::ssize(positions), *files_.size});
    Rows rows;
    STOKER_RETURN_IF_ERROR(ReadSingly(
        *this, std::ssize(positions), context,
        [&](int64_t i, const ReadContext&) -> Status {
          STOKER_ASSIGN_OR_RETURN(const File file,
                                  OpenFile(PathOf(positions[static_cast<size_t>(i)])));
          return ReadInto(file, column.data() + i * *files_.size);
        },
        [&](int64_t i) {
          rows.keys.push_back({context.epoch(), positions[static_cast<size_t>(i)]});
          return OkStatus();
        }));
    rows.columns.push_back(std::move(column));
    return rows;
  }

 private:
  std::string PathOf(int64_t position) const { return std::string(paths_[position]); }

  Result<File> OpenFile(std::string path) const {
    STOKER_ASSIGN_OR_RETURN(File file, File::Open(std::move(path)));
    if (files_.size && file.size() != static_cast<uint64_t>(*files_.size)) {
      return DataLoss(
          "{}: the file has {} bytes, but files.size says {}; correct the file, or take "
          "size away",
          file.path(), file.size(), *files_.size);
    }
    return file;
  }

  static Status ReadInto(const File& file, std::byte* out) {
    return file.ReadAt(0, {out, static_cast<size_t>(file.size())});
  }

  const Files files_;
  TextTable paths_;
};

}  // namespace

void Files::Describe(OptionTable<Files>& table) {
  table.Field("read", &Files::read, "the elements are what is in the files, as field `bytes`")
      .Field("paths", &Files::paths, "with read: the paths too, as field `path`")
      .Field("sorted", &Files::sorted,
             "all files sorted by their bytes; else in the order of the list")
      .Field("size", &Files::size, "with read: bytes that each file has; auto: they may differ",
             AtLeast(0));
}

template <>
const std::vector<Option>& OptionsOf<Files>() {
  static const auto options = WithObjects<Files>(
      {ObjectOption("path", &Files::path, "which files: 'train/*.bin', or a list",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Files::Build() const {
  if (!read && (paths || size))
    return InvalidArgument("files: {} goes with read; set read: true, or leave it out",
                           paths ? "paths" : "size");
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> found, path.Expand(kName, sorted));
  return Dataset(std::make_shared<FilesNode>(*this, found));
}

}  // namespace stoker
