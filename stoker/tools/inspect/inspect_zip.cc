#include <string>

#include "stoker/formats/sample_name.h"
#include "stoker/formats/zip/zip_reader.h"
#include "stoker/formats/zip/zip_samples.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/inspect/sample_summary.h"

namespace stoker {
namespace {

// Reads every entry, so that all checksums are verified; those of the samples first.
Status Summarize(const ZipFile& zip, SampleSummary& summary) {
  const auto add = [&](const ZipEntry& entry) -> Status {
    STOKER_RETURN_IF_ERROR(zip.Verify(entry));
    if (!entry.name.ends_with('/')) summary.Add(entry.name, entry.bytes);
    return OkStatus();
  };
  const ZipSamples samples = ZipSamples::Of(zip);
  for (int64_t sample = 0; sample < samples.size(); ++sample) {
    for (const uint32_t entry : samples.entries(sample))
      STOKER_RETURN_IF_ERROR(add(zip.entries()[entry]));
  }
  for (const ZipEntry& entry : zip.entries()) {
    if (!SplitSampleName(entry.name)) STOKER_RETURN_IF_ERROR(add(entry));
  }
  return OkStatus();
}

}  // namespace

Result<Inspection> InspectZip(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const ZipFile zip, ZipFile::Open(path));
  SampleSummary summary;
  Inspection out;
  out.damage = Summarize(zip, summary);
  summary.Describe(path, "zip", out);
  return out;
}

}  // namespace stoker
