#include "stoker/doctor/diagnosis.h"

#include <fmt/format.h>

#include <cmath>

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

struct VerdictText {
  std::string_view name;
  std::string_view says;  // a sentence's beginning; {} stands for the stage, if it has one
};

// In the order of the enum.
constexpr VerdictText kTexts[] = {
    {"storage", "Training waits for files to be read from a disk"},
    {"network", "Training waits for files to be read from servers"},
    {"decode", "Training waits for samples to be decoded"},
    {"augmentation", "Training waits for samples to be transformed"},
    {"lock", "Training waits for a lock that the threads of the input pipeline share"},
    {"slow_element", "Training waits for a few elements that take much longer than the others"},
    {"small_records", "The work around each piece of data takes longer than the work on it"},
    {"threads", "The number of threads does not suit this machine"},
    {"memory", "The memory budget leaves the input pipeline no room to read ahead"},
    {"copy", "Training waits for batches to be copied to the device"},
    {"compute", "The steps compute more than they need to"},
    {"synchronization", "Training waits for results to be read back from the device"},
    {"checkpoint", "Training waits for checkpoints"},
    {"evaluation", "Much of the run goes into evaluations"},
    {"logging", "Much of the run goes into logging"},
    {"startup", "Much of the run passes before its first step"},
    {"python", "Training waits for Python's interpreter lock"},
    {"unknown", "Time is lost, and nothing that was measured explains it"},
    {"none", "Nothing that was measured is worth a change"},
};
static_assert(std::size(kTexts) == kVerdicts);

}  // namespace

std::string_view NameOf(Verdict verdict) { return kTexts[static_cast<size_t>(verdict)].name; }

double Prescription::gain() const { return std::sqrt(gain_low * gain_high); }

Json Prescription::ToJson() const {
  return {{"change", text},
          {"edit", change ? change->ToJson() : Json()},
          {"gain_low", FiniteOrNull(gain_low)},
          {"gain_high", FiniteOrNull(gain_high)},
          {"why", why},
          {"caution", caution.empty() ? Json() : Json(caution)}};
}

std::string Diagnosis::Sentence() const {
  const std::string_view says = kTexts[static_cast<size_t>(verdict)].says;
  if (verdict == Verdict::kNone) return fmt::format("{}.", says);
  if (verdict == Verdict::kUnknown && lost_share == 0)
    return "What was measured does not say whether time is lost.";
  return fmt::format(
      "{}{}: {:.0f}% of the time is lost, so the run could be {:.2g} times as fast at best.", says,
      stage.empty()
          ? ""
          : fmt::format(" ({}`{}`)", stage.find(':') == stage.npos ? "stage " : "", stage),
      100 * lost_share, roof);
}

Json Diagnosis::ToJson() const {
  Json list = Json::array();
  for (const Prescription& each : prescriptions) list.push_back(each.ToJson());
  return {{"schema", 1},
          {"rank", rank},
          {"host", host},
          {"verdict", NameOf(verdict)},
          {"stage", stage},
          {"lost_share", FiniteOrNull(lost_share)},
          {"roof", FiniteOrNull(roof)},
          {"why", why},
          {"sentence", Sentence()},
          {"prescriptions", std::move(list)},
          {"snippet", snippet.empty() ? Json() : Json(snippet)},
          {"interrupted", interrupted},
          {"error", error.empty() ? Json() : Json(error)}};
}

}  // namespace stoker
