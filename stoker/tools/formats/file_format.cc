#include "stoker/tools/formats/file_format.h"

#include "stoker/tools/formats/format_rows.h"

namespace stoker {
namespace {

// A format that checks more of a file comes before those that look at less: what has a checksum or
// a signature first, then what the name says, then lines of text.
constexpr const FileFormat* kFormats[] = {
    &kN5Format,       &kTfrecordFormat, &kIdxFormat,    &kTarFormat,         &kStokerFormat,
    &kElementsFormat, &kLmdbFormat,     &kHdf5Format,   &kParquetFormat,     &kArrowFormat,
    &kRecordioFormat, &kNpzFormat,      &kNpyFormat,    &kSafetensorsFormat, &kPtFormat,
    &kZipFormat,      &kPictureFormat,  &kRecipeFormat, &kCsvFormat,         &kJsonlFormat,
    &kLibsvmFormat,   &kTextFormat,     &kOtherFormat,
};

}  // namespace

std::span<const FileFormat* const> FileFormats() { return kFormats; }

Result<const FileFormat*> FormatOf(const ProbedFile& file) {
  for (const FileFormat* const format : kFormats) {
    STOKER_ASSIGN_OR_RETURN(const bool holds, format->holds(file));
    if (holds) return format;
  }
  return &kOtherFormat;
}

}  // namespace stoker
