#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/sources/hdf5.h"
#include "stoker/data/sources/n5.h"
#include "stoker/formats/chunked/row_gather.h"
#include "stoker/formats/hdf5/hdf5_file.h"
#include "stoker/formats/n5/n5_array.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/n5.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// Reads every chunk that has been written, and follows every row that leads elsewhere.
Status ReadWhole(const ChunkedArray& array) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, array.WrittenChunks());
  const ChunkedLayout& layout = array.layout();
  for (const int64_t number : numbers) {
    STOKER_ASSIGN_OR_RETURN(const StoredChunk chunk, array.ReadChunk(number));
    if (layout.form != RowForm::kFollowed) continue;
    const int64_t first = number * layout.chunk_shape.front();
    const int64_t end = std::min(array.rows(), first + layout.chunk_shape.front());
    std::vector<std::byte> stored(array.stored_row_bytes());
    for (int64_t row = first; row < end; ++row) {
      STOKER_RETURN_IF_ERROR(GatherRows(
          array, {&row, 1}, [&](int64_t) { return chunk; }, stored.data()));
      const NewArray make = [](DType dtype, Shape shape) {
        return Array::Allocate(dtype, std::move(shape));
      };
      STOKER_RETURN_IF_ERROR(array.Follow(stored, make).status());
    }
  }
  return OkStatus();
}

// Describes several arrays; one that cannot be opened or read is described as far as possible.
class ArrayList {
 public:
  void Add(const std::string& name, const Result<std::shared_ptr<const ChunkedArray>>& array) {
    if (!array.ok()) {
      // What Stoker has no arrays for is nothing wrong with the file.
      const bool unread = array.status().code() == StatusCode::kUnimplemented ||
                          array.status().code() == StatusCode::kInvalidArgument;
      if (!unread) Note(array.status());
      fields_[name] = {{"unread", array.status().message()}};
      table_.push_back({name, unread ? "(not read)" : "(damaged)", "", "", ""});
      return;
    }
    Note(ReadWhole(**array));
    const ChunkedLayout& layout = (*array)->layout();
    fields_[name] = {{"dtype", DTypeName(layout.dtype)},
                     {"shape", layout.row_shape},
                     {"count", (*array)->rows()},
                     {"chunk", layout.chunk_shape}};
    table_.push_back({name, std::string(DTypeName(layout.dtype)), ShapeToString(layout.row_shape),
                      WithThousands(static_cast<double>((*array)->rows())),
                      std::to_string(layout.chunk_shape.front())});
    same_rows_ = same_rows_ && (records_ < 0 || records_ == (*array)->rows());
    records_ = (*array)->rows();
  }

  Inspection Finish(const std::string& path, const char* format) {
    Inspection out;
    out.json = {{"file", path}, {"format", format}, {"fields", std::move(fields_)}};
    // Elements are rows of all datasets together, where they agree.
    out.json["count"] = same_rows_ && records_ >= 0 ? Json(records_) : Json();
    out.text = fmt::format("{}: {}, {} datasets{}\n", Printable(path), format, table_.size() - 1,
                           damage_.ok() ? "; whole" : "; damaged");
    out.text += TableText(table_, 2);
    out.damage = std::move(damage_);
    return out;
  }

 private:
  void Note(Status status) {
    if (damage_.ok()) damage_ = std::move(status);
  }

  Json fields_ = Json::object();
  std::vector<std::vector<std::string>> table_ = {
      {"dataset", "type", "shape of a row", "rows", "rows of a chunk"}};
  int64_t records_ = -1;
  bool same_rows_ = true;
  Status damage_;
};

Result<Inspection> InspectHdf5(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Hdf5File file, Hdf5File::Open(path));
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> datasets, file.ListDatasets());
  ArrayList arrays;
  // As the source calls them.
  for (const std::string& dataset : datasets)
    arrays.Add(dataset.substr(1), file.OpenDataset(dataset));
  return arrays.Finish(path, "hdf5");
}

constexpr const char* kAttributes = "attributes.json";

// A dataset may be named by its attributes.json.
std::filesystem::path N5FolderOf(const std::filesystem::path& path) {
  return path.filename() == kAttributes ? path.parent_path() : path;
}

Result<Inspection> InspectN5(const std::string& path) {
  const std::filesystem::path container = N5FolderOf(path);
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> datasets, ListN5Datasets(container));
  ArrayList arrays;
  for (const std::string& dataset : datasets)
    arrays.Add(dataset.empty() ? "." : dataset, OpenN5(container / dataset));
  return arrays.Finish(path, "n5");
}

}  // namespace

bool IsN5(const std::string& path) {
  const std::filesystem::path given = path;
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(given, error);
  if (!is_folder && given.filename() != kAttributes) return false;
  // A container need not have attributes of its own.
  const bool named = is_folder && given.extension() == ".n5";
  if (!named && !IsRemotePath(path) &&
      !std::filesystem::exists(is_folder ? given / kAttributes : given, error))
    return false;
  const Result<std::vector<std::string>> datasets =
      ListN5Datasets(is_folder ? given : given.parent_path());
  return datasets.ok() && !datasets->empty();
}

const FileFormat kHdf5Format = {
    .name = "hdf5",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.stored == FileKind::kHdf5; },
    .inspect = [](const ProbedFile& file) { return InspectHdf5(file.path); },
    .recipe =
        [](const ProbedFile& file) {
          return fmt::format("hdf5: {{files: {}, fields: {{x: /...}}}}", file.path);
        },
    .open = [](const std::string& path, const Json&) { return Source(Hdf5{.files = path}); },
};

const FileFormat kN5Format = {
    .name = "n5",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.n5; },
    .inspect = [](const ProbedFile& file) { return InspectN5(file.path); },
    .recipe =
        [](const ProbedFile& file) {
          return fmt::format("n5: {{path: {}, fields: {{x: ...}}}}",
                             N5FolderOf(file.path).string());
        },
    .open = [](const std::string& path,
               const Json&) { return Source(N5{.path = N5FolderOf(path)}); },
};

}  // namespace stoker
