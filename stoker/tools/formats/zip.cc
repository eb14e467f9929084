#include <fmt/format.h>

#include <string>

#include "stoker/data/sources/zip_archive.h"
#include "stoker/formats/sample_name.h"
#include "stoker/formats/zip/zip_reader.h"
#include "stoker/formats/zip/zip_samples.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/sample_summary.h"

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

Result<Inspection> InspectZip(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const ZipFile zip, ZipFile::Open(path));
  SampleSummary summary;
  Inspection out;
  out.damage = Summarize(zip, summary);
  summary.Describe(path, "zip", out);
  return out;
}

}  // namespace

const FileFormat kZipFormat = {
    .name = "zip",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.stored == FileKind::kZip; },
    .inspect = [](const ProbedFile& file) { return InspectZip(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("zip_archive: {}", file.path); },
    .open = [](const std::string& path,
               const Json&) { return Source(ZipArchive{.files = path, .key = true}); },
};

}  // namespace stoker
