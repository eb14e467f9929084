// `stoker check`: its arguments, which both executables share, and what it does without libtorch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/commands/recipe_check.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct CheckArguments {
  std::string recipe;
  std::vector<std::string> set;
  bool json = false;
};

void AddCheckCommand(Program& program, std::function<Status(const CheckArguments&)> run);

// Reads the recipe, as far as possible, calls `check_sections` for its content, and prints the
// findings.
using CheckOfSections = std::function<void(const ConfigNode& recipe, RecipeCheck& check)>;
Status RunCheck(const CheckArguments& arguments, const CheckOfSections& check_sections);

// Runs the checks that need no libtorch; the report says what was not checked.
Status RunDataCheck(const CheckArguments& arguments);

}  // namespace stoker
