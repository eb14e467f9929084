// Describes the schema of packed files for `stoker inspect`.
#pragma once

#include "stoker/formats/record_fields.h"
#include "stoker/tools/formats/element_sizes.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Adds the types and shapes of the fields; with `sizes` (may be null) "record_bytes", and the sizes
// of fields that vary.
void DescribeFields(const RecordSchema& schema, const ElementSizes* sizes, Inspection& out);

// Adds the origin of the records, and the classes if they have names.
void DescribeOrigin(const RecordSchema& schema, Inspection& out);

}  // namespace stoker
