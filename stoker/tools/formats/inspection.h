// What `stoker inspect` finds out about one thing, for people and for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Inspection {
  std::string text = {};  // whole lines
  // The same facts. Of every data file "format", "count" (of what the format's source would make
  // samples of; null where that is not one number) and "fields", by their names.
  Json json = {};
  Status damage = {};  // what is wrong with it, where it could be described all the same
};

}  // namespace stoker
