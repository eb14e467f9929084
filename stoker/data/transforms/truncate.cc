#include "stoker/data/transforms/truncate.h"

#include <algorithm>

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"

namespace stoker {
namespace {

class TruncateTransform final : public Transform {
 public:
  TruncateTransform(size_t field, int64_t length, bool keep_last)
      : field_(field), length_(length), keep_last_(keep_last) {}

  bool random() const override { return false; }

  Status Apply(Element& element, Rng&, Scratch&) const override {
    Array& array = element.arrays[field_];
    const int64_t size = array.shape().front();
    if (size <= length_) return OkStatus();
    array = keep_last_ ? array.Rows(size - length_, size) : array.Rows(0, length_);
    return OkStatus();
  }

 private:
  const size_t field_;
  const int64_t length_;
  const bool keep_last_;
};

}  // namespace

void Truncate::Describe(OptionTable<Truncate>& table) {
  table.Field("length", &Truncate::length, "the most that is kept", AtLeast(1)).Required();
  table.Field("field", &Truncate::field, "the field that is cut")
      .Field("keep", &Truncate::keep, "which end stays", OneOf{{"first", "last"}});
}

Result<Dataset> Truncate::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  Spec output = input.spec();
  Shape& shape = output.fields[index].shape;
  if (shape.empty()) {
    return InvalidArgument("truncate: field '{}' is a single value; nothing can be cut off", field);
  }
  if (shape.front() != kUnknownDim) shape.front() = std::min(shape.front(), length);
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {} {}", field, keep, length), std::move(output),
                    std::make_shared<TruncateTransform>(index, length, keep == "last"));
}

}  // namespace stoker
