#include "stoker/tools/inspect/inspect_file.h"

#include <algorithm>

#include "stoker/base/default_budget.h"
#include "stoker/base/ledger.h"
#include "stoker/tools/formats/file_format.h"
#include "stoker/tools/formats/samples.h"
#include "stoker/tools/inspect/inspect_samples.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// The largest of the first `count`; 0 without any.
uint64_t LargestOf(const std::vector<uint64_t>& bytes, int64_t count) {
  uint64_t largest = 0;
  for (size_t i = 0; i < bytes.size() && static_cast<int64_t>(i) < count; ++i)
    largest = std::max(largest, bytes[i]);
  return largest;
}

}  // namespace

Result<Inspection> InspectFile(const std::string& path, int64_t samples) {
  STOKER_ASSIGN_OR_RETURN(const ProbedFile file, ProbePath(path));
  STOKER_ASSIGN_OR_RETURN(const FileFormat* const format, FormatOf(file));
  Result<Inspection> inspection = format->inspect(file);
  if (inspection.ok() && inspection->damage.ok() && samples > 0 && format->open != nullptr) {
    const int64_t budget =
        format->reads_groups ? std::max(kSampleBudget, DefaultMemoryBudget()) : kSampleBudget;
    if (budget == kSampleBudget)
      SetHowToRaiseTheBudget("read it with a recipe: what `inspect` shows of samples is bounded");
    const uint64_t largest = LargestOf(inspection->first_sample_bytes, samples);
    AddFirstSamples(
        largest > static_cast<uint64_t>(budget)
            ? ResourceExhausted("one has {}, and at most {} are read here", ByteText(largest),
                                ByteText(static_cast<uint64_t>(budget)))
            : format->open(path, inspection->json),
        budget, samples, *inspection);
  }
  return inspection;
}

}  // namespace stoker
