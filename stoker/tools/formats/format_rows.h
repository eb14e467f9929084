// The rows of FileFormats(), each defined in the source file of its name.
#pragma once

#include "stoker/tools/formats/file_format.h"

namespace stoker {

extern const FileFormat kArrowFormat, kCsvFormat, kElementsFormat, kHdf5Format, kIdxFormat,
    kJsonlFormat, kLibsvmFormat, kLmdbFormat, kN5Format, kNpyFormat, kNpzFormat, kOtherFormat,
    kParquetFormat, kPictureFormat, kPtFormat, kRecipeFormat, kRecordioFormat, kSafetensorsFormat,
    kStokerFormat, kTarFormat, kTextFormat, kTfrecordFormat, kZipFormat;

}  // namespace stoker
