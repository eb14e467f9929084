#include "stoker/data/sources/file_samples_internal.h"

#include <cstring>

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

Spec SpecOf(const FileSampleFields& fields) {
  Spec spec;
  for (const std::string& name : fields.files)
    spec.fields.push_back({name, DType::kUInt8, {kUnknownDim}});
  if (!fields.label.empty()) spec.fields.push_back({fields.label, DType::kInt64, {}});
  if (!fields.path.empty()) spec.fields.push_back({fields.path, DType::kUInt8, {kUnknownDim}});
  return spec;
}

// A file that is being written is not what it will be: half of a picture would go unnoticed where
// its decoder can do without the rest.
Status CheckEnd(const File& file) {
  std::byte more;
  STOKER_ASSIGN_OR_RETURN(const size_t got, file.ReadUpTo(file.size(), {&more, 1}));
  if (got == 0) return OkStatus();
  return DataLoss("{}: byte {}: the file has grown while it was read; wait until it is complete",
                  file.path(), file.size());
}

Result<Array> ReadFile(std::string path, Scratch& scratch) {
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(std::move(path)));
  if (file.size() > kDefaultReadLimit) {
    return Unimplemented(
        "{}: the file has {} bytes, at most {} are read as one element; is it the right file?",
        file.path(), file.size(), kDefaultReadLimit);
  }
  Array bytes = scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(file.size())});
  STOKER_RETURN_IF_ERROR(file.ReadAt(0, {bytes.data(), bytes.num_bytes()}));
  STOKER_RETURN_IF_ERROR(CheckEnd(file));
  return bytes;
}

class FileSamplesNode final : public ByPositionNode, public SampleNames, public LabelNames {
 public:
  FileSamplesNode(std::string_view name, std::string details, const FileSampleFields& fields,
                  std::shared_ptr<const FileSamples> samples)
      : ByPositionNode(name, SpecOf(fields), Cardinality::Of(samples->size())),
        details_(std::move(details)),
        num_files_(fields.files.size()),
        has_label_(!fields.label.empty()),
        has_path_(!fields.path.empty()),
        samples_(std::move(samples)) {}

  std::string Details() const override { return details_; }
  std::vector<std::string> files() const override {
    std::vector<std::string> paths;
    if (std::string list = samples_->ListedIn(); !list.empty()) paths.push_back(std::move(list));
    for (int64_t i = 0; i < samples_->size(); ++i) {
      for (size_t file = 0; file < num_files_; ++file) paths.push_back(samples_->PathOf(i, file));
    }
    return paths;
  }

  std::string NameOf(int64_t index, std::string_view field) const override {
    if (index < 0 || index >= samples_->size()) return "";
    for (size_t file = 0; file < num_files_; ++file) {
      if (spec().fields[file].name == field) return samples_->PathOf(index, file);
    }
    return "";
  }
  std::vector<std::string> ClassNames() const override { return samples_->ClassNames(); }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    for (size_t file = 0; file < num_files_; ++file) {
      Result<Array> bytes = ReadFile(samples_->PathOf(position, file), scratch);
      if (!bytes.ok()) return Listed(bytes.status());
      element.arrays.push_back(*std::move(bytes));
    }
    if (has_label_) {
      element.arrays.push_back(scratch.NewArray(DType::kInt64, {}));
      element.arrays.back().values<int64_t>()[0] = samples_->LabelOf(position);
    }
    if (has_path_) {
      const std::string path = samples_->PathOf(position, 0);
      element.arrays.push_back(scratch.NewArray(DType::kUInt8, {std::ssize(path)}));
      std::memcpy(element.arrays.back().data(), path.data(), path.size());
    }
    return element;
  }

 private:
  Status Listed(const Status& error) const {
    const std::string list = samples_->ListedIn();
    if (list.empty()) return error;
    return {error.code(), fmt::format("{} ({} lists it)", error.message(), list)};
  }

  const std::string details_;
  const size_t num_files_;
  const bool has_label_;
  const bool has_path_;
  const std::shared_ptr<const FileSamples> samples_;
};

}  // namespace

Dataset FileSamplesDataset(std::string_view name, std::string details,
                           const FileSampleFields& fields,
                           std::shared_ptr<const FileSamples> samples) {
  return Dataset(
      std::make_shared<FileSamplesNode>(name, std::move(details), fields, std::move(samples)));
}

}  // namespace stoker
