#include "stoker/tools/commands/top_command.h"

#include <utility>

namespace stoker {
namespace {

constexpr const char* kTopAbout =
    "Shows live what a run or a process does, and what holds it back.\n"
    "Of a run: its speed, loss and the stages of its input. Of any process: what it waits for. "
    "Of both: GPUs, CPUs, memory and disks. A terminal shows a screen, which q ends; a pipe gets a "
    "line a second. Nothing that is watched is changed.";
constexpr const char* kTopFooter =
    "Example: stoker top runs/mnist-20240131-235959\n"
    "Exit: 0 quit or ended, 1 failed, 2 wrong usage, 130 SIGINT, 143 SIGTERM";

}  // namespace

void AddTopCommand(Program& program, std::function<Status(const TopArguments&)> run) {
  auto [app, arguments] = program.Add<TopArguments>("top", kTopAbout, kTopFooter, std::move(run));
  app.add_option("RUN|PID", arguments.target,
                 "directory of a run, or the number of a process and what it started")
      ->type_name("")
      ->default_str("the newest run below runs/ that trains now");
  app.add_flag("--json", arguments.json, "print a JSON object a second on standard output");
}

}  // namespace stoker
