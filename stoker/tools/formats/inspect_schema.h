// What packed files say of their records, as `stoker inspect` prints it.
#pragma once

#include "stoker/formats/record_fields.h"
#include "stoker/tools/formats/element_sizes.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Adds the types and shapes of the fields; with `sizes` (may be null) "record_bytes", and of fields
// that are not all of one size how large they are.
void DescribeFields(const RecordSchema& schema, const ElementSizes* sizes, Inspection& out);

// Adds what the records were made from, and the classes if they have names.
void DescribeOrigin(const RecordSchema& schema, Inspection& out);

}  // namespace stoker
