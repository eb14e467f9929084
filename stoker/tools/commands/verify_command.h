// `stoker verify`: checks whether files are whole.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct VerifyArguments {
  std::vector<std::string> files;
  bool json = false;
};

void AddVerifyCommand(Program& program);

Status RunVerify(const VerifyArguments& arguments);

}  // namespace stoker
