#include "stoker/tools/inspect/inspect_samples.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/options/registry.h"
#include "stoker/tools/inspect/sample_preview.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

Runtime Within(int64_t budget) {
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = budget;
  return runtime;
}

// The inspection says what cannot be read of a file, so the log of a pass is silent.
class QuietPasses {
 public:
  QuietPasses() { SetLogLevel(LogLevel::kError); }
  ~QuietPasses() { SetLogLevel(LogLevel::kInfo); }
  QuietPasses(const QuietPasses&) = delete;
  QuietPasses& operator=(const QuietPasses&) = delete;
};

// Samples that can be read, whatever those between them are.
Result<std::unique_ptr<Iterator>> OpenReadable(const Dataset& dataset, int64_t budget) {
  STOKER_ASSIGN_OR_RETURN(const Dataset readable,
                          Result<Dataset>(dataset) | IgnoreErrors{.share = 1});
  return readable.Open(Within(budget), {.losses = LossLogging::kNone});
}

int64_t SkippedBy(const Iterator& pass) {
  int64_t skipped = 0;
  for (const StageProfile& stage : pass.GetProfile().stages) skipped += stage.skipped;
  return skipped;
}

// Why the first sample that cannot be read cannot; ok where none of the first `count` is such.
Status FirstDamage(const Dataset& dataset, int64_t budget, int64_t count) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass,
                          dataset.Open(Within(budget), {.losses = LossLogging::kNone}));
  for (int64_t i = 0; i < count; ++i) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> sample, pass->Next());
    if (!sample) break;
  }
  return OkStatus();
}

Status Add(const Dataset& dataset, int64_t budget, int64_t count, Inspection& out) {
  const QuietPasses quiet;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass, OpenReadable(dataset, budget));
  Json samples = Json::array();
  Status ended;
  while (std::ssize(samples) < count) {
    const Result<std::optional<Element>> sample = pass->Next();
    ended = sample.status();
    if (!sample.ok() || !*sample) break;
    out.text += fmt::format("  sample {}: {}\n", std::ssize(samples) + SkippedBy(*pass),
                            Printable(PreviewText(**sample, dataset.spec())));
    samples.push_back(PreviewJson(**sample, dataset.spec()));
  }
  out.json["samples"] = samples;
  const int64_t left_out = SkippedBy(*pass);
  if (left_out == 0) return ended;
  const std::string why = FirstDamage(dataset, budget, std::ssize(samples) + left_out).message();
  out.text +=
      fmt::format("  {} cannot be read and {} left out; the first: {}\n",
                  CountText(left_out, "sample"), left_out == 1 ? "is" : "are", Printable(why));
  out.json["samples_left_out"] = {{"count", left_out}, {"first", why}};
  return ended;
}

}  // namespace

void AddFirstSamples(const Result<Dataset>& dataset, int64_t budget, int64_t count,
                     Inspection& out) {
  const Status added = dataset.ok() ? Add(*dataset, budget, count, out) : dataset.status();
  // An empty file has no sample that would show the fields.
  if (added.ok() || out.json.value("count", Json()) == 0) return;
  out.text += fmt::format("  samples cannot be read{}: {}\n", dataset.ok() ? " any further" : "",
                          Printable(added.message()));
  out.json["samples_error"] = added.message();
}

}  // namespace stoker
