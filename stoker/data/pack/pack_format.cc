#include "stoker/data/pack/pack_format.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker {
namespace internal {

Status ReadEach(const Result<Dataset>& source, const PackedElement& each) {
  if (!source.ok()) return source.status();
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> elements,
                          source->Open(Runtime::Inline()));
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements->Next());
    if (!element) return OkStatus();
    STOKER_RETURN_IF_ERROR(each(element->arrays));
  }
}

Status NoNumPyType(std::string_view format, const Field& field) {
  return InvalidArgument(
      "{}: field '{}' is {}, which NumPy lacks; put `cast: {{field: {}, dtype: float32}}` at the "
      "end of the pipeline",
      format, field.name, DTypeName(field.dtype), field.name);
}

}  // namespace internal

namespace {

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Status CheckCanBeMade(const std::string& destination) {
  namespace fs = std::filesystem;
  if (IsRemotePath(destination)) {
    return InvalidArgument("{}: files are packed on this machine; pack here and copy them there",
                           destination);
  }
  const fs::path name = fs::path(WithoutSlashes(destination)).filename();
  if (IsStandardInput(destination) || name.empty() || name == "." || name == "..") {
    return InvalidArgument("'{}': names no file to pack into; give the name of one to be made",
                           destination);
  }
  return CheckNameIsOfNoDevice(destination);
}

}  // namespace

RecordSchema PackedFile::schema() const {
  RecordSchema schema{.fields = {}, .classes = classes, .origin = origin};
  for (const Field& field : spec.fields)
    schema.fields.push_back({field.name, field.dtype, field.shape});
  return schema;
}

std::span<const PackFormat> PackFormats() {
  static const PackFormat formats[] = {internal::kStokerPackFormat, internal::kTfRecordPackFormat,
                                       internal::kTarPackFormat, internal::kLmdbPackFormat,
                                       internal::kNpyPackFormat};
  return formats;
}

Result<const PackFormat*> FindPackFormat(std::string_view name) {
  const std::span<const PackFormat> formats = PackFormats();
  const auto found = std::ranges::find(formats, name, &PackFormat::name);
  if (found != formats.end()) return &*found;
  std::vector<std::string> names;
  for (const PackFormat& format : formats) names.emplace_back(format.name);
  return InvalidArgument("unknown format '{}'; {}", name, NameAdvice(name, names));
}

Result<const PackFormat*> PackFormatFor(const std::string& destination, std::string_view name) {
  STOKER_RETURN_IF_ERROR(CheckCanBeMade(destination));
  const std::string extension = std::filesystem::path(WithoutSlashes(destination)).extension();
  if (extension == ".npy" && (name.empty() || name == "npy")) {
    return InvalidArgument(
        "{}: arrays are packed into a directory, a .npy file for each field; name the directory, "
        "without .npy, and give --format npy",
        destination);
  }
  if (!name.empty()) return FindPackFormat(name);
  if (extension.empty()) return &PackFormats().front();
  std::vector<std::string_view> names;
  for (const PackFormat& format : PackFormats()) {
    if (extension == format.extension) return &format;
    names.push_back(format.name);
  }
  return InvalidArgument(
      "{}: '{}' is not packed to; formats: {}. Give one by --format, or a name that ends in "
      ".stoker",
      destination, extension, fmt::join(names, ", "));
}

}  // namespace stoker
