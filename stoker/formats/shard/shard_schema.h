// What every record of a .stoker file has.
#pragma once

#include <string>
#include <vector>

#include "stoker/formats/record_fields.h"

namespace stoker {

struct ShardSchema {
  std::vector<ElementField> fields;  // at least one; names are different
  std::string origin;                // what the records were made from, for people
};

}  // namespace stoker
