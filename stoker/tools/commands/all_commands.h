// All commands, which both executables have.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/tools/commands/batch_find_command.h"
#include "stoker/tools/commands/bench_command.h"
#include "stoker/tools/commands/check_command.h"
#include "stoker/tools/commands/doctor_command.h"
#include "stoker/tools/commands/env_command.h"
#include "stoker/tools/commands/eval_command.h"
#include "stoker/tools/commands/export_command.h"
#include "stoker/tools/commands/inspect_command.h"
#include "stoker/tools/commands/launch_command.h"
#include "stoker/tools/commands/lint_command.h"
#include "stoker/tools/commands/lr_find_command.h"
#include "stoker/tools/commands/pack_command.h"
#include "stoker/tools/commands/predict_command.h"
#include "stoker/tools/commands/scale_command.h"
#include "stoker/tools/commands/schedule_command.h"
#include "stoker/tools/commands/top_command.h"
#include "stoker/tools/commands/train_command.h"
#include "stoker/tools/commands/vocabulary_command.h"
#include "stoker/tools/program/program.h"
#include "stoker/tools/program/trainer_process.h"

namespace stoker {

// Lets stoker-train run the command instead of this process. The arguments are right when it is
// called; stoker-train reads them again.
struct HandOver {
  char** argv = nullptr;

  template <typename Arguments>
  Status operator()(const Arguments&) const {
    return ExecTrainer(argv);
  }
};

// What those commands do that are different in the two executables. Commands that it does not list
// do the same in both.
struct CommandActions {
  HandOver hand_over;
  std::function<Status(const TrainArguments&)> train = hand_over;
  std::function<Status(const EvalArguments&)> eval = hand_over;
  std::function<Status(const PredictArguments&)> predict = hand_over;
  std::function<Status(const CheckArguments&)> check = hand_over;
  std::function<Status(const LintArguments&)> lint = hand_over;
  std::function<Status(const ExportArguments&)> export_weights = hand_over;
  std::function<Status(const ScheduleArguments&)> schedule = hand_over;
  std::function<Status(const LrFindArguments&)> lr_find = hand_over;
  std::function<Status(const BatchFindArguments&)> batch_find = hand_over;
  std::function<Status(const DoctorArguments&)> doctor = hand_over;
  std::function<Status(const DoctorArguments&)> foreign_doctor;
  std::function<Status(const TopArguments&)> top;
  std::function<Status(const LaunchArguments&)> launch;
  std::function<Status(const ScaleArguments&)> scale;
  std::function<Status(const BenchArguments&)> bench = RunBench;
  std::function<Status(const BenchArguments&)> bench_model = hand_over;
  std::function<Status(const EnvArguments&)> env_exchange = hand_over;
  std::function<Status(const PackArguments&)> pack = RunPack;
  std::function<Status(const InspectArguments&)> inspect = hand_over;
  std::function<Status(const VocabularyArguments&)> vocabulary = RunVocabulary;
  std::function<Status(const std::string&)> completion_words = hand_over;

  std::string note;  // stands in the program's help before its example; empty: none

  // Returns the names of the commands that are handed over whatever their arguments.
  std::vector<std::string> HandedOver() const;
};

// Adds them in the order of `stoker --help`.
void AddCommands(Program& program, CommandActions actions);

}  // namespace stoker
