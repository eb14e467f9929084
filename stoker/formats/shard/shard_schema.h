// What every record of a .stoker file has.
#pragma once

#include "stoker/formats/record_fields.h"

namespace stoker {

using ShardSchema = RecordSchema;

}  // namespace stoker
