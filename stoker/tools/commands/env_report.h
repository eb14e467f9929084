// What `stoker env` has found out, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/machine/facts.h"
#include "stoker/machine/roofs.h"
#include "stoker/machine/warnings.h"

namespace stoker {

// The versions of what a result depends on. Empty: there is none.
struct EnvVersions {
  std::string torch;     // that stoker-train was built with, "2.11.0"
  std::string no_torch;  // why there is none
  std::string arrow;     // "libarrow.so.2600"
  std::string no_arrow;
};

struct EnvReport {
  MachineFacts facts;
  EnvVersions versions;
  Roofs roofs;
  double seconds = 0;         // of measuring
  std::string no_copies;      // why copies to GPUs were not measured
  std::string no_all_reduce;  // likewise
  std::string roofs_file;     // where the figures are kept; empty if nowhere
  std::string roofs_problem;  // why not

  std::vector<MachineWarning> Warnings() const { return FindTraps(facts); }

  // docs/machine.md describes both.
  std::string ToText() const;
  Json ToJson() const;
};

}  // namespace stoker
