// `stoker predict`: its arguments, which both executables share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct PredictArguments {
  std::string run;
  std::vector<std::string> files;  // pictures; none: the samples of the recipe's data.eval
  std::vector<std::string> set;
  std::optional<int64_t> top;    // classes of each sample
  std::optional<int64_t> limit;  // samples of each file, or of data.eval; 0: all
  bool json = false;
  // Of data.eval only.
  std::string to;  // a file; empty: standard output
  std::vector<std::string> fields;
  bool scores = false;
};

void AddPredictCommand(Program& program, std::function<Status(const PredictArguments&)> run);

}  // namespace stoker
