#include "stoker/tools/doctor/doctor_fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe_text.h"
#include "stoker/doctor/recipe_edit.h"
#include "stoker/doctor/text_diff.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/program/child_process.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/temporary_directory.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int kFewestRounds = 3, kMostRounds = 5;
constexpr double kLeastSeconds = 2, kMostSeconds = 20, kShare = 0.1;

class Fixer {
 public:
  Fixer(const DoctorArguments& arguments, const TemporaryDirectory& folder)
      : arguments_(arguments),
        folder_(folder),
        seconds_(std::clamp(kShare * arguments.seconds, kLeastSeconds, kMostSeconds)) {}

  Result<Fixed> Run(const Diagnosis& diagnosis) {
    STOKER_ASSIGN_OR_RETURN(const std::string original, ReadRecipeText(arguments_.recipe));
    text_ = original;
    for (const Prescription& each : diagnosis.prescriptions) {
      if (!each.change) continue;
      TriedChange tried{.prescription = each};
      STOKER_RETURN_IF_ERROR(Try(*each.change, tried));
      fixed_.tried.push_back(std::move(tried));
    }
    if (text_ == original) return std::move(fixed_);
    fixed_.file = FixedName(arguments_.recipe);
    fixed_.diff = DiffOf(original, text_);
    STOKER_RETURN_IF_ERROR(CheckFixedRecipe(arguments_.recipe));
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(fixed_.file, std::string_view(text_)));
    return std::move(fixed_);
  }

 private:
  Status Try(const RecipeChange& change, TriedChange& tried) {
    if (!tried.prescription.caution.empty() && !arguments_.allow_accuracy_changes) {
      tried.not_kept = "may change the accuracy; --allow-accuracy-changes tries it";
      return OkStatus();
    }
    RecipeChange moved = change;
    for (const RecipeChange& made : kept_) moved = moved.AfterInserting(made);
    const Result<std::string> edited = EditRecipe(text_, arguments_.recipe, moved);
    if (!edited.ok()) {
      tried.not_kept = edited.status().message();
      return OkStatus();
    }
    PrintProgress(
        arguments_.json ? stderr : stdout,
        fmt::format("doctor: tries {}, {} to {} rounds of 2 x {}\n", tried.prescription.text,
                    kFewestRounds, kMostRounds, DurationText(seconds_)));
    STOKER_RETURN_IF_ERROR(Measure(*edited, tried));
    if (!tried.not_kept.empty()) return OkStatus();
    tried.kept = tried.gain.Helps();
    if (!tried.kept) {
      tried.not_kept = "does not help beyond noise";
      return OkStatus();
    }
    kept_.push_back(moved);
    text_ = *edited;
    return OkStatus();
  }

  // A recipe that fails with the change is no error of the doctor.
  Status Measure(const std::string& edited, TriedChange& tried) {
    std::vector<Round> rounds;
    while (std::ssize(rounds) < kMostRounds) {
      Round round;
      STOKER_ASSIGN_OR_RETURN(round.without, RateOf(text_));
      const Result<double> with = RateOf(edited);
      if (with.status().code() == StatusCode::kCancelled) return with.status();
      if (!with.ok()) {
        tried.not_kept = with.status().message();
        return OkStatus();
      }
      round.with = *with;
      rounds.push_back(round);
      tried.gain = GainOfRounds(rounds);
      const bool clear = tried.gain.Helps() || tried.gain.high < 1.02;
      if (std::ssize(rounds) >= kFewestRounds && clear) break;
    }
    return OkStatus();
  }

  Result<double> RateOf(const std::string& text) {
    const std::string file = (folder_.path() / "recipe.yaml").string();
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(file, std::string_view(text)));
    const std::filesystem::path folder = std::filesystem::path(arguments_.recipe).parent_path();
    std::vector<std::string> words = {"doctor",           file,
                                      "--seconds",        fmt::format("{}", seconds_),
                                      "--rate-in-folder", folder.empty() ? "." : folder.string()};
    if (GetPluginPolicy() == PluginPolicy::kLoad) words.emplace_back("--allow-code");
    STOKER_ASSIGN_OR_RETURN(const std::string out, OutputOfThisProgram(words, Interrupted()));
    const Json json = Json::parse(out, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.value("samples_per_s", Json()).is_number())
      return Internal("a process that measures has printed no rate: {}", out.substr(0, 200));
    return json["samples_per_s"].get<double>();
  }

  const DoctorArguments& arguments_;
  const TemporaryDirectory& folder_;
  const double seconds_;  // of each measurement
  std::string text_;      // with what was kept so far
  std::vector<RecipeChange> kept_;
  Fixed fixed_;
};

Json ToJson(const TriedChange& tried) {
  const bool measured = tried.gain.rounds > 0;
  return {{"change", tried.prescription.text},
          {"predicted_low", tried.prescription.gain_low},
          {"predicted_high", tried.prescription.gain_high},
          {"gain", measured ? Json(tried.gain.median) : Json()},
          {"low", measured ? Json(tried.gain.low) : Json()},
          {"high", measured && tried.gain.rounds > 1 ? Json(tried.gain.high) : Json()},
          {"rounds", tried.gain.rounds},
          {"kept", tried.kept},
          {"why_not", tried.kept ? Json() : Json(tried.not_kept)}};
}

}  // namespace

std::string FixedName(const std::string& recipe) {
  std::filesystem::path path(recipe);
  return path.replace_extension(".fixed.yaml").string();
}

Status CheckFixedRecipe(const std::string& recipe) {
  const std::string name = FixedName(recipe);
  std::error_code error;
  if (!std::filesystem::exists(name, error)) return OkStatus();
  return FailedPrecondition("{} exists, and is what --fix would write: rename or remove it first",
                            name);
}

Json Fixed::ToJson() const {
  Json list = Json::array();
  for (const TriedChange& each : tried) list.push_back(stoker::ToJson(each));
  return {{"file", file.empty() ? Json() : Json(file)}, {"diff", diff}, {"tried", std::move(list)}};
}

std::string Fixed::ToText() const {
  std::vector<std::vector<std::string>> rows = {{"change", "predicted", "measured", "95%", ""}};
  for (const TriedChange& each : tried) {
    const Prescription& prescription = each.prescription;
    const bool measured = each.gain.rounds > 1;
    rows.push_back({prescription.text,
                    fmt::format("{:.2f} to {:.2f}", prescription.gain_low, prescription.gain_high),
                    measured ? fmt::format("{:.2f}", each.gain.median) : "-",
                    measured ? fmt::format("{:.2f} to {:.2f}", each.gain.low, each.gain.high) : "-",
                    each.kept ? "kept" : "not kept: " + each.not_kept});
  }
  const std::string written = file.empty()
                                  ? "No change is kept, so no recipe is written.\n"
                                  : fmt::format("{} is the improved recipe:\n{}", file, diff);
  return TableText(rows) + "\n" + written;
}

Result<Fixed> Fix(const DoctorArguments& arguments, const Diagnosis& diagnosis) {
  STOKER_ASSIGN_OR_RETURN(const TemporaryDirectory folder, TemporaryDirectory::Create("doctor"));
  return Fixer(arguments, folder).Run(diagnosis);
}

}  // namespace stoker
