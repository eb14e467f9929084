// What packed files say of their records, as `stoker inspect` prints it.
#pragma once

#include "stoker/formats/record_fields.h"
#include "stoker/tools/inspection.h"

namespace stoker {

// Adds the types and shapes of the fields.
void DescribeFields(const RecordSchema& schema, Inspection& out);

// Adds what the records were made from, and the classes if they have names.
void DescribeOrigin(const RecordSchema& schema, Inspection& out);

}  // namespace stoker
