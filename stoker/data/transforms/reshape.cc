#include "stoker/data/transforms/reshape.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"

namespace stoker {
namespace {

constexpr int64_t kAsMany = -1;  // the extent that follows from the number of values
constexpr double kLargestShapeExtent = 0x1p40;

// Returns `shape` with its extent of kAsMany filled in for `count` values; nothing if they do not
// fill it.
std::optional<Shape> FilledShape(Shape shape, int64_t count) {
  int64_t others = 1;
  for (const int64_t extent : shape) {
    if (extent == kAsMany) continue;
    const std::optional<int64_t> product = MultiplySizes(others, extent);
    if (!product) return std::nullopt;
    others = *product;
  }
  const auto open = std::ranges::find(shape, kAsMany);
  if (open == shape.end()) return others == count ? std::optional(std::move(shape)) : std::nullopt;
  if (others == 0 || count % others != 0) return std::nullopt;
  *open = count / others;
  return shape;
}

class ReshapeTransform final : public Transform {
 public:
  ReshapeTransform(size_t field, std::string name, Shape shape)
      : field_(field), name_(std::move(name)), shape_(std::move(shape)) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& /*scratch*/) const override {
    Array& array = element.arrays[field_];
    std::optional<Shape> shape = FilledShape(shape_, array.num_values());
    if (!shape) return DoNotFill(element.key, array.num_values());
    array = array.Reshaped(*std::move(shape));
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& /*scratch*/) const override {
    Array& column = rows.columns[field_];
    const int64_t of_one = column.num_values() / rows.size();
    std::optional<Shape> shape = FilledShape(shape_, of_one);
    if (!shape) return DoNotFill(rows.keys.front(), of_one);
    shape->insert(shape->begin(), rows.size());
    column = column.Reshaped(*std::move(shape));
    return OkStatus();
  }

  bool random() const override { return false; }
  bool works_on_columns() const override { return true; }

 private:
  Status DoNotFill(const SampleKey& key, int64_t count) const {
    return DataLoss("reshape: element {}: field '{}' has {} values, which do not fill the shape {}",
                    key.index, name_, count, ShapeToString(shape_));
  }

  const size_t field_;
  const std::string name_;
  const Shape shape_;
};

}  // namespace

void Reshape::Describe(OptionTable<Reshape>& table) {
  table
      .Field("shape", &Reshape::shape,
             "extents of the new shape; one may be -1: as many as there are",
             Between(-1, kLargestShapeExtent))
      .Required()
      .Field("field", &Reshape::field, "field whose shape is changed");
}

Result<Dataset> Reshape::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  if (std::ranges::count(shape, kAsMany) > 1) {
    return InvalidArgument("reshape: shape is {}; only one extent can be -1",
                           ShapeToString(Shape(shape.begin(), shape.end())));
  }
  Spec output = input.spec();
  Field& changed = output.fields[index];
  Shape wanted(shape.begin(), shape.end());
  if (IsFullyKnown(changed.shape)) {
    const int64_t count = NumValues(changed.shape);
    std::optional<Shape> filled = FilledShape(wanted, count);
    if (!filled) {
      return InvalidArgument(
          "reshape: field '{}' has shape {}, {} values, which do not fill the shape {}", field,
          ShapeToString(changed.shape), count, ShapeToString(wanted));
    }
    wanted = *std::move(filled);
  }
  changed.shape = wanted;
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{} to {}", field, ShapeToString(wanted)), std::move(output),
                    std::make_shared<ReshapeTransform>(index, field, wanted));
}

}  // namespace stoker
