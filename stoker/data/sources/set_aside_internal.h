// Memory that a source sets aside for parts of files that it keeps decompressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/data/core/kept_memory.h"

namespace stoker {

// How much a source wants to hold, in bytes.
struct SetAsideDemand {
  std::string name;  // of what wants `least`
  int64_t least = 0;
  int64_t useful = 0;  // >= least
};

// For messages.
struct SetAsideWords {
  std::string_view parts;   // what memory is set aside for: "chunks"
  std::string_view least;   // what takes demand.least: "a row of chunks, decompressed,"
  std::string_view remedy;  // what can be done beside raising the budget
};

// Has `kept` hold at least demand.least, charged to the budget of `pass`, and up to demand.useful
// within half of what is free there; what it holds already counts. Call it when a pass is
// prepared, one thread at a time. Errors: kResourceExhausted where `least` does not fit.
Status SetAside(KeptMemory& kept, const Pass& pass, const DatasetNode& node,
                const SetAsideDemand& demand, const SetAsideWords& words);

}  // namespace stoker
