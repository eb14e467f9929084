#include "stoker/data/transforms/cast.h"

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/pictures/picture_plan.h"
#include "stoker/data/rewrites/map_order.h"
#include "stoker/data/rewrites/picture_pass.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

class CastTransform final : public MovableTransform, public PictureFinishing {
 public:
  CastTransform(size_t field, DType dtype) : field_(field), dtype_(dtype) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    CastArray(element.arrays[field_], scratch);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    CastArray(rows.columns[field_], scratch);
    return OkStatus();
  }

  bool works_on_columns() const override { return true; }

  std::optional<size_t> picture_field() const override { return field_; }
  bool AddTo(PictureFinish& finish, int64_t /*channels*/) const override {
    if (finish.dtype != finish.computed) return finish.dtype == dtype_;
    finish.dtype = dtype_;
    if (dtype_ == DType::kFloat32) finish.computed = dtype_;
    return true;
  }

 private:
  void CastArray(Array& array, Scratch& scratch) const {
    if (array.dtype() == dtype_) return;
    Array out = scratch.NewArray(dtype_, array.shape());
    CastValues(array.dtype(), array.data(), static_cast<size_t>(array.num_values()), dtype_,
               out.data());
    array = std::move(out);
  }

  const size_t field_;
  const DType dtype_;
};

std::vector<std::string> DTypeNames() {
  std::vector<std::string> names;
  for (int dtype = 0; dtype <= static_cast<int>(DType::kFloat64); ++dtype) {
    names.emplace_back(DTypeName(static_cast<DType>(dtype)));
  }
  return names;
}

}  // namespace

void Cast::Describe(OptionTable<Cast>& table) {
  table.Field("dtype", &Cast::dtype, "type of the values that come out", OneOf{DTypeNames()})
      .Field("field", &Cast::field, "field to convert");
}

Result<Dataset> Cast::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  STOKER_ASSIGN_OR_RETURN(const DType to, ParseDType(dtype));
  Spec output = input.spec();
  output.fields[index].dtype = to;
  return InOnePass(MapDataset(std::move(input), std::string(kName),
                              fmt::format("{} to {}", field, dtype), std::move(output),
                              std::make_shared<CastTransform>(index, to)));
}

}  // namespace stoker
