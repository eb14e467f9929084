// `stoker inspect`: describes files, runs, and what a recipe may contain.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct InspectArguments {
  std::string file;
  bool ops = false;
  std::string op;  // the one operator to describe, or empty
  bool models = false;
  std::string model;  // likewise
  bool formats = false;
  std::string grid;     // where to write a contact sheet of a recipe's pictures, or empty
  int64_t samples = 3;  // of a data file, to show
  std::vector<std::string> set;
  bool json = false;
};

void AddInspectCommand(Program& program, std::function<Status(const InspectArguments&)> run);

// Returns true if the answer needs stoker-train: runs, checkpoints, models.
bool NeedsTrainer(const InspectArguments& arguments);

// Answers all other requests.
Status RunInspect(const InspectArguments& arguments);

// Prints the text, or the JSON if `json`.
Status PrintInspection(const Result<Inspection>& inspection, bool json);

}  // namespace stoker
