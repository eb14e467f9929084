#include "stoker/tools/doctor/doctor.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/json_text.h"
#include "stoker/base/ledger.h"
#include "stoker/base/printable.h"
#include "stoker/base/proc_text.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/recipe/memory_options.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/doctor/diagnose.h"
#include "stoker/doctor/planned_times.h"
#include "stoker/doctor/recipe_edit.h"
#include "stoker/tools/commands/pipeline_bench.h"
#include "stoker/tools/doctor/doctor_fix.h"
#include "stoker/tools/doctor/input_probe.h"
#include "stoker/tools/doctor/known_roofs.h"
#include "stoker/tools/doctor/recipe_facts.h"
#include "stoker/tools/live/live_server.h"
#include "stoker/tools/live/train_watch.h"
#include "stoker/tools/live/work_watch.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/program/trace_options.h"

namespace stoker {
namespace {

// How the time is divided: the run, the input alone, the step alone, and each trial.
constexpr double kOfRun = 0.45, kOfInput = 0.15, kOfStep = 0.1, kOfTrials = 0.3;
constexpr double kMostOfATrial = 8, kMostOfTheStep = 5;

Result<DoctorRecipe> Changed(DoctorRecipe recipe, const RecipeChange& change) {
  STOKER_RETURN_IF_ERROR(ApplyChange(recipe.root, change));
  return recipe;
}

// Whether the source takes a share of the input's work that is worth saving.
bool SourceIsSlow(const InputProfile& input) {
  constexpr double kWorthSaving = 0.1;
  double busy = 0;
  for (const StageTimes& stage : input.stages) busy += stage.busy_s;
  return !input.stages.empty() && input.stages.front().busy_s >= kWorthSaving * busy;
}

class Doctor {
 public:
  Doctor(const DoctorArguments& arguments, const DoctorParts& parts)
      : arguments_(arguments), parts_(parts) {}

  Status Run() {
    const std::filesystem::path file = arguments_.recipe;
    const std::filesystem::path folder = arguments_.rate_in_folder.empty()
                                             ? file.parent_path()
                                             : std::filesystem::path(arguments_.rate_in_folder);
    STOKER_ASSIGN_OR_RETURN(recipe_, ReadDoctorRecipe(file, folder, arguments_.set));
    STOKER_RETURN_IF_ERROR(Check());
    NoteInterrupt();
    // For what looks at the data outside of a pass, which has a stop flag of its own.
    const StopScope stopped([] { return Interrupted().load(); });
    ::signal(SIGPIPE, SIG_IGN);  // the temporary run must be removed
    STOKER_RETURN_IF_ERROR(timer_.Start());
    if (!arguments_.rate_in_folder.empty()) return PrintRate();
    STOKER_ASSIGN_OR_RETURN(
        live_,
        LiveServer::Start(arguments_.serve, {.command = "doctor", .recipe = arguments_.recipe}));
    if (live_) watch_.emplace(&live_->board());
    if (arguments_.fix) STOKER_RETURN_IF_ERROR(CheckFixedRecipe(arguments_.recipe));
    Announce();
    const Stopwatch watch;
    const Status failed = Measure();
    profile_.seconds = watch.ElapsedSeconds();
    profile_.interrupted = Interrupted();
    if (!failed.ok()) profile_.error = failed.message();
    return Report(failed);
  }

 private:
  bool Trains() const { return profile_.facts.has_model && parts_.train; }

  Status Check() {
    profile_.recipe = arguments_.recipe;
    profile_.facts = FactsOf(recipe_.root);
    profile_.machine.host = ReadSmallText("/proc/sys/kernel/hostname");
    profile_.machine.cpus = AvailableCpus();
    STOKER_ASSIGN_OR_RETURN(const Runtime runtime, RuntimeOf(recipe_.root, nullptr));
    profile_.machine.memory_budget = runtime.memory_budget;
    const ConfigNode* const root = NodeAt(recipe_.root, "data.root");
    profile_.machine.roofs =
        FindKnownRoofs(recipe_.folder / (root == nullptr ? "." : root->scalar));
    if (Trains()) return parts_.check(recipe_);
    STOKER_RETURN_IF_ERROR(WishForMemoryOf(recipe_.root));
    return ParseDataSection(recipe_.root, recipe_.folder).status();
  }

  // For machines the report stands alone on standard output.
  void Say(const std::string& line) const {
    PrintProgress(arguments_.json ? stderr : stdout, line + "\n");
  }

  void Announce() const {
    const double s = arguments_.seconds;
    const std::string recipe = Printable(arguments_.recipe);
    Say(Trains()
            ? fmt::format("doctor: trains for {} as {} says, in a temporary run directory; then "
                          "measures its input ({}) and its step ({}) alone, and tries changes on "
                          "them (at most {}). Your runs and files stay as they are.",
                          DurationText(kOfRun * s), recipe, DurationText(kOfInput * s),
                          DurationText(std::min(kMostOfTheStep, kOfStep * s)),
                          DurationText(kOfTrials * s))
            : fmt::format("doctor: reads data.train of {} for {}, and tries changes (at most {}). "
                          "Your files stay as they are.",
                          recipe, DurationText(kOfInput * s), DurationText(kOfTrials * s)));
    if (profile_.facts.has_model && !parts_.train)
      Say("doctor: this build of stoker cannot train, so only the input is measured");
    if (arguments_.fix)
      Say("doctor: then tries each prescription in turn with the recipe as it is");
  }

  // Returns the error of the data or of the training.
  Status Measure() {
    if (Trains()) {
      std::optional<TrainWatch> watch;
      if (live_) watch.emplace(live_->board());
      const Status trained = parts_.train(recipe_, kOfRun * arguments_.seconds, timer_,
                                          watch ? &*watch : nullptr, profile_);
      if (!trained.ok() || Interrupted()) return trained;
    }
    STOKER_RETURN_IF_ERROR(MeasureInputAlone());
    if (Interrupted()) return OkStatus();
    if (Trains()) {
      Show("measuring the step alone");
      timer_.Set(2 * arguments_.seconds);
      const auto step =
          parts_.step(recipe_, std::min(kMostOfTheStep, kOfStep * arguments_.seconds), timer_);
      if (step.ok())
        profile_.step = *step;
      else if (step.status().code() != StatusCode::kCancelled)
        return step.status();
      if (Interrupted()) return OkStatus();
    }
    if (profile_.input) {
      FindCachePlace(recipe_.root, recipe_.folder, SourceIsSlow(*profile_.input), profile_.facts);
    }
    Try();
    return OkStatus();
  }

  // On the page and in the metrics, if they were asked for.
  void Show(const std::string& phase) {
    if (!live_) return;
    live_->board().Update([&](LiveFacts& facts) {
      facts.phase = phase;
      facts.train.reset();
      facts.work.reset();
      facts.waits.clear();
    });
  }

  // Returns the pipeline to measure, and sets the runtime that the recipe asks for.
  Result<Dataset> InputOf(const DoctorRecipe& recipe, InputProbe& probe) {
    if (watch_) probe.observer = ShowPasses(*watch_);
    STOKER_ASSIGN_OR_RETURN(DataRecipe data, ParseDataSection(recipe.root, recipe.folder));
    STOKER_ASSIGN_OR_RETURN(probe.runtime, RuntimeOf(recipe.root, timer_.flag()));
    return std::move(data.train);
  }

  Status MeasureInputAlone() {
    Show("measuring the input alone");
    InputProbe probe{.seconds = kOfInput * arguments_.seconds};
    STOKER_ASSIGN_OR_RETURN(const Dataset dataset, InputOf(recipe_, probe));
    timer_.Set(arguments_.seconds);
    InputProfile input;
    const Status status =
        MeasureInput(dataset, probe, input, nullptr, &profile_.machine.other_runnable);
    if (input.batches > 0) profile_.input = std::move(input);
    return status;
  }

  void Try() {
    const std::vector<TrialPlan> plans = TrialsFor(profile_);
    for (const TrialPlan& plan : plans) {
      if (Interrupted()) return;
      const double seconds = std::min(
          kMostOfATrial, kOfTrials * arguments_.seconds / static_cast<double>(plans.size()));
      Show("trying " + plan.change.ToText(profile_.facts.stages));
      Trial trial{.change = plan.change, .part = plan.part};
      const Status tried =
          plan.part == TrialPart::kInput ? TryInput(seconds, trial) : TryStep(seconds, trial);
      if (!tried.ok()) trial.error = tried.message();
      profile_.trials.push_back(std::move(trial));
    }
  }

  Status TryInput(double seconds, Trial& trial) {
    STOKER_ASSIGN_OR_RETURN(const DoctorRecipe changed, Changed(recipe_, trial.change));
    InputProbe probe{.seconds = 0.6 * seconds, .most_warm_up_s = 0.4 * seconds};
    STOKER_ASSIGN_OR_RETURN(const Dataset dataset, InputOf(changed, probe));
    const bool caches = trial.change.value == "cache";
    if (caches) {  // it is faster from the second epoch on
      const Cardinality batches = dataset.cardinality();
      probe.warm_up = batches.known() ? batches.value() + 1 : int64_t{1} << 40;
      probe.most_warm_up_s = 0.8 * seconds;
    }
    timer_.Set(2 * seconds + 5);
    trial.before = profile_.input->samples_per_s;
    InputProfile measured;
    bool warm = true;
    STOKER_RETURN_IF_ERROR(MeasureInput(dataset, probe, measured, &warm));
    trial.samples_per_s = measured.samples_per_s;
    if (caches && !warm) EstimateCache(trial);
    return OkStatus();
  }

  // What precedes a cache costs nothing from the second epoch on.
  void EstimateCache(Trial& trial) const {
    double all = 0, left = 0;
    bool behind = false;
    const std::vector<std::string>& stages = profile_.facts.stages;
    for (const StageTimes& stage : profile_.input->stages) {
      all += stage.busy_s;
      const auto place = std::ranges::find(stages, stage.name) - stages.begin();
      behind = behind || (place < std::ssize(stages) && place > trial.change.after);
      if (behind) left += stage.busy_s;
    }
    trial.estimated = true;
    trial.samples_per_s = trial.before * std::min(20.0, all / std::max(left, 1e-9));
  }

  Status TryStep(double seconds, Trial& trial) {
    STOKER_ASSIGN_OR_RETURN(const DoctorRecipe changed, Changed(recipe_, trial.change));
    timer_.Set(2 * seconds + 5);
    STOKER_ASSIGN_OR_RETURN(const StepProfile step,
                            parts_.step(changed, std::min(seconds, kMostOfTheStep), timer_));
    trial.before = static_cast<double>(profile_.step->batch) / profile_.step->seconds;
    trial.samples_per_s = static_cast<double>(step.batch) / step.seconds;
    return OkStatus();
  }

  Status Report(const Status& failed) {
    const Diagnosis diagnosis = Diagnose(profile_);
    if (live_) live_->EndsWith("it has ended: " + diagnosis.Sentence());
    Fixed fixed;
    Status fix_failed;
    if (arguments_.fix && failed.ok() && !profile_.interrupted) {
      if (!arguments_.json) Say(DoctorText(profile_, diagnosis));
      Show("trying what is prescribed");
      const Result<Fixed> result = Fix(arguments_, diagnosis);
      if (result.ok())
        fixed = *result;
      else
        fix_failed = result.status();
    } else if (!arguments_.json) {
      STOKER_RETURN_IF_ERROR(PrintResult(DoctorText(profile_, diagnosis)));
    }
    if (arguments_.json) {
      Json json = diagnosis.ToJson();
      json["profile"] = profile_.ToJson();
      if (arguments_.fix) json["fix"] = fixed.ToJson();
      STOKER_RETURN_IF_ERROR(PrintResult(DumpJson(json) + "\n"));
    } else if (arguments_.fix && fix_failed.ok() && !fixed.tried.empty()) {
      STOKER_RETURN_IF_ERROR(PrintResult(fixed.ToText()));
    }
    if (Interrupted()) return Cancelled("stopped; the report is of what was measured until then");
    return failed.ok() ? fix_failed : failed;
  }

  // For --fix, in a process of its own.
  Status PrintRate() {
    double rate = 0;
    if (Trains()) {
      STOKER_RETURN_IF_ERROR(parts_.train(recipe_, arguments_.seconds, timer_, nullptr, profile_));
      if (profile_.training) rate = PlannedSamplesPerSecond(*profile_.training);
    } else {
      InputProbe probe{.seconds = arguments_.seconds};
      STOKER_ASSIGN_OR_RETURN(const Dataset dataset, InputOf(recipe_, probe));
      InputProfile input;
      STOKER_RETURN_IF_ERROR(MeasureInput(dataset, probe, input));
      rate = input.samples_per_s;
    }
    if (Interrupted()) return Cancelled("stopped");
    return PrintResult(DumpJson({{"samples_per_s", rate}}) + "\n");
  }

  const DoctorArguments& arguments_;
  const DoctorParts& parts_;
  DoctorRecipe recipe_;
  RunProfile profile_;
  StopTimer timer_;
  std::unique_ptr<LiveServer> live_;  // null unless it was asked for, like the next
  std::optional<WorkWatch> watch_;
};

}  // namespace

Result<DoctorRecipe> ReadDoctorRecipe(const std::filesystem::path& file,
                                      const std::filesystem::path& folder,
                                      const std::vector<std::string>& set) {
  DoctorRecipe recipe{.root = {}, .folder = folder};
  STOKER_ASSIGN_OR_RETURN(recipe.root, ReadRecipe(file, set));
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe.root, folder));
  return recipe;
}

Status RunDoctor(const DoctorArguments& arguments, const DoctorParts& parts) {
  return RunTracedFromNow(arguments.trace, "stoker doctor",
                          [&] { return Doctor(arguments, parts).Run(); });
}

}  // namespace stoker
