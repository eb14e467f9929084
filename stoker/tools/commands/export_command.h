// `stoker export`: its arguments, which both executables share.
#pragma once

#include <functional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct ExportArguments {
  std::string from;
  std::string to;
  bool json = false;
};

void AddExportCommand(Program& program, std::function<Status(const ExportArguments&)> run);

}  // namespace stoker
