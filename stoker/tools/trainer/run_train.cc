#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/base/thrown_error.h"
#include "stoker/cluster/agreement.h"
#include "stoker/cluster/membership.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/run/batch_per_rank.h"
#include "stoker/run/observer_list.h"
#include "stoker/run/recipe.h"
#include "stoker/run/run_directory.h"
#include "stoker/tools/live/live_server.h"
#include "stoker/tools/live/train_watch.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/launcher.h"
#include "stoker/tools/program/output_file.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/terminal.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/program/trace_options.h"
#include "stoker/tools/report/run_report.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/data_check_progress.h"
#include "stoker/tools/trainer/find_run.h"
#include "stoker/tools/trainer/metrics_text.h"
#include "stoker/tools/trainer/rank_log.h"
#include "stoker/tools/trainer/slurm_job.h"
#include "stoker/tools/trainer/train_progress.h"
#include "stoker/tools/trainer/train_ranks.h"
#include "stoker/train/loop/trainer.h"

namespace stoker {
namespace {

constexpr const char* kRuns = "runs";

// This process among those of the run. What is wrong with the environment is said later.
Membership RankOf(const TrainArguments& arguments) {
  const Result<Membership> member = FindMembership();
  return !arguments.independent && member.ok() ? *member : Membership();
}

std::string RecipeName(const TrainArguments& arguments) {
  return std::filesystem::path(arguments.recipe).stem().string();
}

Result<std::filesystem::path> RunToResume(const TrainArguments& arguments) {
  if (!arguments.run.empty()) return std::filesystem::path(arguments.run);
  STOKER_ASSIGN_OR_RETURN(const std::filesystem::path run,
                          FindNewestRun(kRuns, RecipeName(arguments)));
  LogInfo("resuming {}, the newest run of {}", run.string(), arguments.recipe);
  return run;
}

// The recipe that `run` is resumed with: the one of the command line, or that of the run. The
// trainer refuses what else has changed, but of another plug-in not even a static initializer may
// run before it is allowed.
Result<Recipe> ReadRecipeToResume(const TrainArguments& arguments,
                                  const std::filesystem::path& run) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode before, ReadRunRecipe(run));
  // A stored recipe names everything absolutely, so it needs no folder.
  std::filesystem::path folder = run;
  ConfigNode recipe = before;
  if (arguments.recipe.empty()) {
    STOKER_RETURN_IF_ERROR(ApplyAssignments(recipe, arguments.set));
  } else {
    folder = std::filesystem::path(arguments.recipe).parent_path();
    STOKER_ASSIGN_OR_RETURN(recipe, ReadRecipe(arguments.recipe, arguments.set));
    STOKER_RETURN_IF_ERROR(TakeBatchPerRank(recipe, RankOf(arguments).world));
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> changes,
                          PinPluginsOfRun(before, recipe, folder));
  if (!changes.empty() && !arguments.allow_changes) {
    return FailedPrecondition(
        "{}: the recipe names other plug-ins than the run was trained with: {}. None of their code "
        "has run; put the right ones there, start a new run, or allow them (--allow-changes)",
        run.string(), fmt::join(changes, "; "));
  }
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, folder));
  UseLearnedOf(run, recipe);
  return ParseRecipe(recipe, folder);
}

// Makes the directory of a new run. Of processes that do so at once each gets its own, since making
// a directory that exists fails: then the next name is taken.
Result<RunPlace> MakeNamedDirectory(const std::string& recipe_name) {
  RunPlace place;
  for (;;) {
    Status status = place.made.Create(kRuns).While("making the run directory");
    place.root = NewRunPath(kRuns, recipe_name, std::chrono::system_clock::now());
    if (status.ok()) {
      const Result<bool> made = place.made.CreateNew(place.root.string());
      if (made.ok() && *made) return place;
      // Another process whose run was refused may have removed the empty directory of all runs.
      if (made.ok() || made.status().code() == StatusCode::kNotFound) continue;
      status = made.status();
    }
    place.made.RemoveEmpty();
    return status;
  }
}

struct OpenedRun {
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<UndoOnInterrupt> undo;  // of a new run, until its first step
  std::filesystem::path root;             // on every rank
};

// A run that is refused, or ended before its first step, leaves nothing of what was made for it.
Result<OpenedRun> CreateRun(const TrainArguments& arguments, Recipe recipe, DataCheck check,
                            const CheckObserver& observer, std::shared_ptr<Group> group) {
  OpenedRun opened;
  const auto claim = [&]() -> Result<RunPlace> {
    opened.undo = std::make_unique<UndoOnInterrupt>();
    Result<RunPlace> place =
        arguments.run.empty() ? MakeNamedDirectory(RecipeName(arguments)) : RunPlace{arguments.run};
    if (place.ok()) opened.root = place->root;
    return place;
  };
  STOKER_ASSIGN_OR_RETURN(opened.trainer, Trainer::CreateIn(std::move(recipe), claim, check,
                                                            observer, std::move(group)));
  opened.undo->SetUndo([trainer = opened.trainer.get()] { trainer->Discard(); });
  return opened;
}

Result<OpenedRun> OpenRun(const TrainArguments& arguments, const std::filesystem::path& run,
                          Recipe recipe, std::shared_ptr<Group> group) {
  STOKER_ASSIGN_OR_RETURN(const DataCheck check, ParseDataCheck(arguments.check_data));
  DataCheckProgress progress(IsTerminal(STDERR_FILENO), arguments.quiet);
  const CheckObserver observer = [&](const CheckProgress& now) { progress.On(now); };
  if (!arguments.resume)
    return CreateRun(arguments, std::move(recipe), check, observer, std::move(group));
  OpenedRun opened{.root = run};
  STOKER_ASSIGN_OR_RETURN(opened.trainer, Trainer::Resume(std::move(recipe), run,
                                                          {.allow_changes = arguments.allow_changes,
                                                           .data_check = check,
                                                           .on_data_check = observer,
                                                           .group = std::move(group)}));
  return opened;
}

// Rank 0 opens the run, the others follow it.
Result<OpenedRun> OpenTogether(const TrainArguments& arguments, const std::filesystem::path& run,
                               Recipe recipe, const std::shared_ptr<Group>& group) {
  STOKER_RETURN_IF_ERROR(CheckAlike(*group, recipe, arguments.resume));
  Result<OpenedRun> opened = OpenedRun();
  if (group->membership().rank == 0) {
    opened = OpenRun(arguments, run, std::move(recipe), group);
  } else {
    Result<std::unique_ptr<Trainer>> trainer =
        Trainer::Follow(std::move(recipe), group, arguments.resume);
    if (trainer.ok())
      opened->trainer = *std::move(trainer);
    else
      opened = trainer.status();
  }
  Status agreed = Agree(*group, opened.status(), "opening the run");
  if (agreed.ok()) {
    std::error_code error;  // the others know no directory
    const std::string own = std::filesystem::absolute(opened->root, error).string();
    const Result<std::string> root = TextOfFirst(*group, own, "the run's directory");
    if (root.ok()) opened->root = *root;
    agreed = root.status();
  }
  if (agreed.ok()) return opened;
  if (opened.ok() && opened->undo) opened->trainer->Discard();
  return agreed;
}

std::string SummaryText(const TrainSummary& summary) {
  std::string text;
  if (summary.last_evaluation) {
    const std::optional<double> accuracy = summary.last_evaluation->accuracy;
    text += accuracy ? fmt::format("test accuracy      {:.4f}\n", *accuracy)
                     : fmt::format("test loss          {:.4f}\n", summary.last_evaluation->loss);
    // What stands for each class is for `stoker inspect RUN`.
    for (const auto& row : MetricRows(summary.last_evaluation->metrics, /*classes=*/{})) {
      if (row.size() == 2 && !row[0].empty())
        text += fmt::format("{:<18} {}\n", "test " + Printable(row[0]), row[1]);
    }
  }
  text += fmt::format("{:<18} {} ({} of training)\n", summary.noun + "s per second",
                      WithThousands(summary.images_per_s), DurationText(summary.train_seconds));
  if (summary.starved) {
    text += fmt::format("data               {}\n                   try: {}\n",
                        summary.starved->Sentence(), summary.starved->advice);
  }
  if (summary.ranks) text += fmt::format("ranks              {}\n", summary.ranks->Sentence());
  text += fmt::format("run                {}\n", Printable(summary.run));
  return text;
}

std::string EndOf(const Result<TrainSummary>& summary) {
  if (!summary.ok()) return "failed: " + summary.status().message();
  if (!summary->interrupted)
    return summary->ended.empty() ? "finished" : fmt::format("finished: {}", summary->ended);
  return fmt::format("interrupted after step {} of {}", summary->step, summary->total_steps);
}

// A report that cannot be written costs nothing of the run, and one of a run without a step would
// say nothing.
void WriteReport(const std::string& run, const std::string& how) {
  const Status written =
      CatchExceptions([&] { return WriteRunReport(run, how); }, "writing the report");
  if (!written.ok()) LogWarning("the report could not be written: {}", written.message());
}

// Passes the run on to the page, if there is one, and knows where it is.
class RunWatch final : public TrainObserver {
 public:
  explicit RunWatch(LiveServer* live) {
    if (live != nullptr) page_.emplace(live->board());
  }

  void OnStart(const StartEvent& event) override {
    run_ = event.run;
    stepped_ = event.first_step > 0;
  }
  void OnStep(const StepEvent&) override { stepped_ = true; }
  TrainObserver* page() { return page_ ? &*page_ : nullptr; }

  // The run directory, once it has a step; else empty.
  std::string run() const { return stepped_ ? run_ : std::string(); }

 private:
  std::optional<TrainWatch> page_;
  std::string run_;
  bool stepped_ = false;
};

Status Report(const TrainSummary& summary, const TrainArguments& arguments) {
  Status printed;
  if (arguments.json) {
    printed = PrintResult(DumpJson(summary.ToJson()) + "\n");
  } else if (!summary.interrupted) {
    printed = PrintResult(SummaryText(summary));
  }
  if (!summary.interrupted) return printed;
  return Cancelled(
      "stopped after step {} of {}; a checkpoint is stored; continue with: "
      "stoker train --resume --run {}{}",
      summary.step, summary.total_steps, ShellWord(summary.run),
      LoadedPlugins().items.empty() ? "" : " --allow-code");
}

// The directory of a new run must be empty.
Status CheckTraceIsOutside(const TrainArguments& arguments) {
  if (arguments.resume || arguments.run.empty()) return OkStatus();
  for (const auto& [option, path] : GivenTraceFiles(arguments.trace)) {
    if (!IsInside(path, arguments.run)) continue;
    return InvalidArgument("{} {}: this is in the directory of the new run; give another name",
                           option, path);
  }
  return OkStatus();
}

// What is to be trained, read from the command line, or from the run that is resumed.
struct Subject {
  std::filesystem::path resumed;  // empty: a new run
  Recipe recipe;
};

Result<Subject> ReadSubject(const TrainArguments& arguments) {
  std::filesystem::path resumed;
  if (arguments.resume) {
    STOKER_ASSIGN_OR_RETURN(resumed, RunToResume(arguments));
  }
  Result<Recipe> recipe =
      arguments.resume ? ReadRecipeToResume(arguments, resumed)
                       : LoadRecipe(arguments.recipe, arguments.set, RankOf(arguments).world);
  if (!recipe.ok()) return recipe.status();
  return Subject{std::move(resumed), *std::move(recipe)};
}

// After a warning, once the checkpoint is stored.
Status QueueAgain(const TrainArguments& arguments, const TrainSummary& summary) {
  if (!arguments.requeue || !summary.interrupted || InterruptSignal() != SIGUSR1) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const SlurmJob job, FindSlurmJob());
  STOKER_RETURN_IF_ERROR(RequeueJob(job).While(
      fmt::format("queueing the job again; a checkpoint of step {} is stored", summary.step)));
  LogInfo("Slurm has put the job {} back into its queue", job.name);
  return OkStatus();
}

// Trains as one of `group`, or alone where that is null.
//   trace  whose window begins with the first step; may be null
Status TrainWith(const TrainArguments& arguments, Subject subject,
                 const std::shared_ptr<Group>& group, TraceSession* trace) {
  const bool first = !group || group->membership().rank == 0;
  const std::string name = arguments.recipe.empty() ? subject.resumed.string() : arguments.recipe;
  std::unique_ptr<LiveServer> live;
  if (first) {
    STOKER_ASSIGN_OR_RETURN(
        live, LiveServer::Start(arguments.serve, {.command = "train", .recipe = name}));
  }
  STOKER_ASSIGN_OR_RETURN(
      const OpenedRun run,
      group ? OpenTogether(arguments, subject.resumed, std::move(subject.recipe), group)
            : OpenRun(arguments, subject.resumed, std::move(subject.recipe), nullptr));
  // A reader of the progress who leaves must not end the training: PrintResult notices at the end.
  ::signal(SIGPIPE, SIG_IGN);
  // Until the first step there is nothing to store, and a signal ends the process at once.
  const auto before_first_step = [&run, first, trace] {
    run.undo ? run.undo->NoteFromNowOn() : NoteInterrupt();
    if (!first) SetRunOfRankLog(run.root.string());
    if (trace != nullptr) trace->BeginWindow();
  };
  TrainProgress progress({.quiet = arguments.quiet || !first,
                          .lines = arguments.json ? stderr : stdout,
                          .bar = IsTerminal(STDERR_FILENO),
                          .before_first_step = before_first_step});
  RunWatch watch(live.get());
  TrainObservers observers;
  for (TrainObserver* each :
       {static_cast<TrainObserver*>(&progress), static_cast<TrainObserver*>(&watch), watch.page()})
    observers.Add(each);
  const Result<TrainSummary> summary = run.trainer->Run(&observers, &Interrupted());
  progress.Finish();
  const Status shared =
      group && summary.ok() && summary->interrupted ? ShareInterrupt(*group) : OkStatus();
  // What follows is each one's own.
  if (group) group->Leave(summary.ok() ? shared : summary.status());
  if (first && !watch.run().empty()) WriteReport(watch.run(), EndOf(summary));
  if (live) live->EndsWith("the run has ended: " + EndOf(summary));
  if (!summary.ok()) return summary.status();
  STOKER_RETURN_IF_ERROR(shared);
  if (!first) return summary->interrupted ? Cancelled("stopped with rank 0") : OkStatus();
  STOKER_RETURN_IF_ERROR(QueueAgain(arguments, *summary));
  return Report(*summary, arguments);
}

Status Train(const TrainArguments& arguments, TraceSession* trace) {
  STOKER_ASSIGN_OR_RETURN(Subject subject, ReadSubject(arguments));
  if (arguments.print_recipe) return PrintResult(ToYaml(subject.recipe.Filled()));
  std::shared_ptr<Group> group;
  if (!arguments.independent) {
    STOKER_ASSIGN_OR_RETURN(group, JoinRanks(subject.recipe.train.distributed));
  }
  const Status status = TrainWith(arguments, std::move(subject), group, trace);
  if (group) group->Leave(status);
  return status;
}

// Continues the run of before, if it has begun.
Result<TrainArguments> Continuing(TrainArguments arguments, const std::string& why) {
  const Result<ConfigNode> before = ReadRunRecipe(arguments.run);
  arguments.resume = before.ok() || before.status().code() != StatusCode::kNotFound;
  if (arguments.resume) LogInfo("{}: {} continues this run", arguments.run, why);
  return arguments;
}

// What starts the same command again means the run of before to continue, from the beginning if it
// had none.
Result<TrainArguments> WithResume(TrainArguments arguments, const Restarts& restarts) {
  if (arguments.requeue) {
    STOKER_ASSIGN_OR_RETURN(const SlurmJob job, FindSlurmJob());
    if (!arguments.resume && job.restarts > 0)
      return Continuing(std::move(arguments), fmt::format("Slurm's restart {}", job.restarts));
  }
  if (arguments.resume || restarts.most == 0) return arguments;
  if (arguments.run.empty()) {
    return InvalidArgument(
        "the launcher starts this again after a failure ({} times at most), so the run must have a "
        "directory that is known before: give --run DIR",
        restarts.most);
  }
  if (restarts.done == 0) return arguments;
  return Continuing(std::move(arguments), fmt::format("the launcher's restart {}", restarts.done));
}

}  // namespace

Status RunTrain(const TrainArguments& given) {
  if (given.print_recipe) return Train(given, nullptr);
  // What the others would say, rank 0 says, and it writes the trace.
  const int64_t rank = RankOf(given).rank;
  if (rank > 0) LogAsRank(rank);
  STOKER_ASSIGN_OR_RETURN(TrainArguments arguments, WithResume(given, FindRestarts()));
  if (rank > 0) arguments.trace = {};
  STOKER_RETURN_IF_ERROR(CheckTraceIsOutside(arguments));
  return RunTraced(arguments.trace, "stoker train",
                   [&](TraceSession* trace) { return Train(arguments, trace); });
}

}  // namespace stoker
