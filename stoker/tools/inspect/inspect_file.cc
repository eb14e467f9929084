#include "stoker/tools/inspect/inspect_file.h"

#include "stoker/tools/formats/file_format.h"
#include "stoker/tools/inspect/inspect_samples.h"

namespace stoker {

Result<Inspection> InspectFile(const std::string& path, int64_t samples) {
  STOKER_ASSIGN_OR_RETURN(const ProbedFile file, ProbePath(path));
  STOKER_ASSIGN_OR_RETURN(const FileFormat* const format, FormatOf(file));
  Result<Inspection> inspection = format->inspect(file);
  if (inspection.ok() && inspection->damage.ok() && samples > 0 && format->open != nullptr)
    AddFirstSamples(format->open(path, inspection->json), samples, *inspection);
  return inspection;
}

}  // namespace stoker
