#include "python/module/spec_option.h"

#include "stoker/base/options.h"

namespace stoker::python {

void SpecField::Describe(OptionTable<SpecField>& table) {
  table.Field("type", &SpecField::type, "of the values: uint8, int64, float32, ...")
      .Field("shape", &SpecField::shape,
             "extents; -1: one that differs from element to element; empty: one value",
             Between(-1, 1 << 30));
}

Result<Spec> SpecOf(const SpecOption& fields) {
  Spec spec;
  for (const SpecField& field : fields.fields()) {
    STOKER_ASSIGN_OR_RETURN(const DType dtype, ParseDType(field.type));
    spec.fields.push_back({field.name, dtype, field.shape});
  }
  return spec;
}

}  // namespace stoker::python
