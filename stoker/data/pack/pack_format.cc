#include "stoker/data/pack/pack_format.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/iterator.h"
#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/data/runtime.h"

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

const PackFormat* PackFormatOfPath(std::string_view path) {
  for (const PackFormat& format : PackFormats()) {
    if (!format.extension.empty() && path.ends_with(format.extension)) return &format;
  }
  return nullptr;
}

}  // namespace stoker
