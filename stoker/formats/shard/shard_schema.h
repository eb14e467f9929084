// The fields of every record of a .stoker file.
#pragma once

#include "stoker/formats/record_fields.h"

namespace stoker {

using ShardSchema = RecordSchema;

}  // namespace stoker
