#include "stoker/data/transforms/layout.h"

#include <algorithm>

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/pictures/picture_plan.h"
#include "stoker/data/rewrites/map_order.h"
#include "stoker/data/rewrites/picture_pass.h"

namespace stoker {
namespace {

// Transposes `rows` x `columns` values of T, which stands for any value of its size.
template <typename T>
void Transpose(const std::byte* in, int64_t rows, int64_t columns, std::byte* out) {
  const T* from = reinterpret_cast<const T*>(in);
  T* to = reinterpret_cast<T*>(out);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) *to++ = from[row * columns + column];
  }
}

void TransposeValues(const std::byte* in, size_t value_size, int64_t rows, int64_t columns,
                     std::byte* out) {
  switch (value_size) {
    case 1: return Transpose<uint8_t>(in, rows, columns, out);
    case 2: return Transpose<uint16_t>(in, rows, columns, out);
    case 4: return Transpose<uint32_t>(in, rows, columns, out);
    case 8: return Transpose<uint64_t>(in, rows, columns, out);
  }
}

// The last three dimensions in their new order.
Shape Turned(Shape shape, bool channels_last) {
  const auto image = shape.end() - 3;
  std::rotate(image, channels_last ? image + 1 : image + 2, shape.end());
  return shape;
}

class LayoutTransform final : public MovableTransform, public PictureFinishing {
 public:
  LayoutTransform(size_t field, bool channels_last)
      : field_(field), channels_last_(channels_last) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    Turn(element.arrays[field_], scratch);
    return OkStatus();
  }
  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    Turn(rows.columns[field_], scratch);
    return OkStatus();
  }
  bool works_on_columns() const override { return true; }

  size_t field() const { return field_; }
  bool channels_last() const { return channels_last_; }

  std::optional<size_t> picture_field() const override { return field_; }
  bool AddTo(PictureFinish& finish, int64_t /*channels*/) const override {
    if (finish.channels_last == channels_last_) return false;
    finish.channels_last = channels_last_;
    return true;
  }

 private:
  // One image or many.
  void Turn(Array& images, Scratch& scratch) const {
    const Shape& shape = images.shape();
    Array out = scratch.NewArray(images.dtype(), Turned(shape, channels_last_));
    const int64_t channels = channels_last_ ? *(shape.end() - 3) : shape.back();
    const int64_t pixels = channels == 0    ? 0
                           : channels_last_ ? shape.end()[-2] * shape.end()[-1]
                                            : shape.end()[-3] * shape.end()[-2];
    const int64_t values = channels * pixels;
    const size_t value_size = DTypeSize(images.dtype());
    for (int64_t at = 0; values > 0 && at < images.num_values(); at += values) {
      const size_t bytes = static_cast<size_t>(at) * value_size;
      TransposeValues(images.data() + bytes, value_size, channels_last_ ? channels : pixels,
                      channels_last_ ? pixels : channels, out.data() + bytes);
    }
    images = std::move(out);
  }

  const size_t field_;
  const bool channels_last_;
};

}  // namespace

bool HasChannelsLast(const Dataset& dataset, std::string_view field) {
  const DatasetNode& node = dataset.node();
  const auto* layout = dynamic_cast<const LayoutTransform*>(node.element_wise());
  if (layout != nullptr && node.spec().fields[layout->field()].name == field)
    return layout->channels_last();
  return std::ranges::any_of(node.inputs(),
                             [&](const Dataset& input) { return HasChannelsLast(input, field); });
}

void Layout::Describe(OptionTable<Layout>& table) {
  table
      .Field("to", &Layout::to, "channels_last: [H, W, C]; channels_first: [C, H, W]",
             OneOf{{"channels_last", "channels_first"}})
      .Field("field", &Layout::field, "images to change");
}

Result<Dataset> Layout::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  Spec output = input.spec();
  Shape& shape = output.fields[index].shape;
  if (shape.size() != 3 && shape.size() != 4) {
    return InvalidArgument(
        "layout: field '{}' has shape {}; it must be an image, [C, H, W] or [H, W, C], or a batch "
        "of them",
        field, ShapeToString(shape));
  }
  const bool channels_last = to == "channels_last";
  shape = Turned(std::move(shape), channels_last);
  return InOnePass(MapDataset(std::move(input), std::string(kName),
                              fmt::format("{} to {}", field, to), std::move(output),
                              std::make_shared<LayoutTransform>(index, channels_last)));
}

}  // namespace stoker
