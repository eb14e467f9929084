// Known traps of machines: rules that look at facts and read nothing themselves.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/machine/facts.h"

namespace stoker {

struct MachineWarning {
  std::string trap;    // one word for scripts: "quota", "governor", "open_files"
  std::string what;    // what is the case, with its figures
  std::string source;  // where it was read: "/proc/self/limits"
  std::string advice;  // what to do
};

// Returns the traps that the facts show, the costliest first. A fact that is unknown shows none.
std::vector<MachineWarning> FindTraps(const MachineFacts& facts);

// {"trap", "what", "source", "advice"}
Json ToJson(const MachineWarning& warning);

}  // namespace stoker
