#include "stoker/tools/launch/launch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <optional>

#include "stoker/io/atomic_file.h"
#include "stoker/tools/launch/rank_group.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"

namespace stoker {
namespace {

// The signal that one of ours was asked to stop by, as it says itself; 0: it failed.
int AskedToStopBy(const RankFailure& failure) {
  if (!WIFEXITED(failure.status)) return 0;
  if (failure.exit_code() == kExitInterrupted) return SIGINT;
  if (failure.exit_code() == kExitWarned) return SIGUSR1;
  return failure.exit_code() == kExitTerminated ? SIGTERM : 0;
}

}  // namespace

Status RunLaunch(const LaunchArguments& arguments) {
  if (!arguments.log_folder.empty()) {
    STOKER_RETURN_IF_ERROR(CreateDirectories(arguments.log_folder));
  }
  NoteInterrupt();
  RanksToRun group{.words = *arguments.words,
                   .ranks = arguments.ranks,
                   .most_restarts = arguments.restarts,
                   .share_cpus = arguments.share_cpus,
                   .log_folder = arguments.log_folder};
  for (;; ++group.restart) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<RankFailure> failure, RunRanks(group));
    if (Interrupted()) return Cancelled("all {} processes have ended", arguments.ranks);
    if (!failure) return PrintResult("");  // whether all that they printed was written
    if (const int number = AskedToStopBy(*failure); number != 0) {
      NoteInterruptElsewhere(number);
      return Cancelled("{}; all {} processes have ended", failure->Sentence(), arguments.ranks);
    }
    if (failure->exit_code() == kExitUsage) return InvalidArgument("{}", failure->Sentence());
    if (group.restart == arguments.restarts) {
      return FailedPrecondition(
          "{}{}", failure->Sentence(),
          arguments.restarts > 0 ? fmt::format(", after {} restarts", arguments.restarts) : "");
    }
    PrintProgress(stderr, fmt::format("launch: {}; restart {} of {}\n", failure->Sentence(),
                                      group.restart + 1, arguments.restarts));
  }
}

}  // namespace stoker
