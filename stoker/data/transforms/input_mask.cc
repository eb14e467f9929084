#include "stoker/data/transforms/input_mask.h"

#include <cstring>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/fill_value.h"
#include "stoker/data/nodes/map.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr double kMaxVocabulary = 1 << 30;

struct MaskPlan {
  size_t field = 0;
  DType dtype = DType::kUInt8;
  bool by_row = false;
  bool keeps_target = false;
  FillValue value;
  double probability = 0, unchanged = 0, random = 0;
  uint64_t vocabulary = 0;
};

class InputMaskTransform final : public Transform {
 public:
  explicit InputMaskTransform(const MaskPlan& plan) : plan_(plan) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    Array& input = element.arrays[plan_.field];
    Array hidden = scratch.NewArray(input.dtype(), input.shape());
    Array mask = scratch.NewArray(DType::kBool, MaskShape(input.shape(), 1));
    Hide(input.data(), hidden.data(), mask, static_cast<size_t>(input.num_values()), rng);
    Replace(input, std::move(hidden), std::move(mask), element.arrays);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    Array& input = rows.columns[plan_.field];
    Array hidden = scratch.NewArray(input.dtype(), input.shape());
    Array mask = scratch.NewArray(DType::kBool, MaskShape(input.shape(), 2));
    const size_t bytes = input.num_bytes() / rows.keys.size();
    const auto values = static_cast<size_t>(input.num_values()) / rows.keys.size();
    for (size_t i = 0; i < rows.keys.size(); ++i) {
      Rng rng = rngs.For(rows.keys[i]);
      Hide(input.data() + i * bytes, hidden.data() + i * bytes, mask.Row(static_cast<int64_t>(i)),
           values, rng);
    }
    Replace(input, std::move(hidden), std::move(mask), rows.columns);
    return OkStatus();
  }

  bool works_on_columns() const override { return true; }

 private:
  // The mask's shape for an array whose first `dims` dimensions are the sample's number, if any,
  // and the rows.
  Shape MaskShape(const Shape& shape, size_t dims) const {
    return plan_.by_row ? Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dims))
                        : shape;
  }

  void Replace(Array& input, Array hidden, Array mask, std::vector<Array>& arrays) const {
    Array before = std::exchange(input, std::move(hidden));
    arrays.push_back(std::move(mask));
    if (plan_.keeps_target) arrays.push_back(std::move(before));
  }

  // One sample of `values` values.
  void Hide(const std::byte* in, std::byte* out, const Array& mask, size_t values, Rng& rng) const {
    const std::span<bool> chosen = mask.values<bool>();
    if (chosen.empty()) return;
    const size_t per_position = values / chosen.size();  // none in rows of no values
    const size_t bytes = per_position * DTypeSize(plan_.dtype);
    if (values > 0) std::memcpy(out, in, values * DTypeSize(plan_.dtype));
    for (size_t i = 0; i < chosen.size(); ++i) {
      chosen[i] = rng.Bernoulli(plan_.probability);
      if (chosen[i]) Hide(out + i * bytes, per_position, rng);
    }
  }

  // One chosen position.
  void Hide(std::byte* out, size_t values, Rng& rng) const {
    const double lot = rng.UniformDouble();
    if (lot < plan_.unchanged) return;
    const bool random = lot < plan_.unchanged + plan_.random;
    const size_t size = DTypeSize(plan_.dtype);
    if (!random) return Fill(plan_.value, size, values, out);
    for (size_t i = 0; i < values; ++i) {
      const auto drawn = static_cast<int64_t>(rng.Below(plan_.vocabulary));
      CastValues(DType::kInt64, reinterpret_cast<const std::byte*>(&drawn), 1, plan_.dtype,
                 out + i * size);
    }
  }

  const MaskPlan plan_;
};

Status CheckShares(const InputMask& options, const Field& field) {
  if (options.unchanged + options.random > 1) {
    return InvalidArgument(
        "input_mask: unchanged is {} and random is {}; they are shares of the chosen positions and "
        "come to 1 at most",
        options.unchanged, options.random);
  }
  if (options.random == 0) return OkStatus();
  if (IsFloating(field.dtype) || field.dtype == DType::kBool) {
    return InvalidArgument(
        "input_mask: random is {}, but field '{}' is {}; only integers are drawn", options.random,
        field.name, DTypeName(field.dtype));
  }
  if (options.vocabulary > 0) {
    const auto largest = static_cast<double>(options.vocabulary - 1);
    return MakeFillValue(InputMask::kName, "the last token of the vocabulary", largest, field)
        .status();
  }
  return InvalidArgument(
      "input_mask: random is {}, but vocabulary is 0; say how many tokens there are to draw from",
      options.random);
}

}  // namespace

void InputMask::Describe(OptionTable<InputMask>& table) {
  table.Field("field", &InputMask::field, "field to hide parts of")
      .Field("probability", &InputMask::probability, "that a position is chosen", Between(0, 1))
      .Field("value", &InputMask::value, "what a chosen position is hidden by")
      .Field("unit", &InputMask::unit,
             "what a position is: each value, or each row of the first dimension",
             OneOf{{"value", "row"}})
      .Field("unchanged", &InputMask::unchanged, "share of the chosen positions left as they are",
             Between(0, 1))
      .Field("random", &InputMask::random, "share of the chosen positions that get random integers",
             Between(0, 1))
      .Field("vocabulary", &InputMask::vocabulary, "random integers lie in 0..vocabulary-1",
             Between(0, kMaxVocabulary))
      .Field("target", &InputMask::target, "field to add with the values from before; empty: none");
}

Result<Dataset> InputMask::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  const Field source = input.spec().fields[index];
  STOKER_RETURN_IF_ERROR(CheckShares(*this, source));
  MaskPlan plan{.field = index,
                .dtype = source.dtype,
                .by_row = unit == "row",
                .keeps_target = !target.empty(),
                .probability = probability,
                .unchanged = unchanged,
                .random = random,
                .vocabulary = static_cast<uint64_t>(vocabulary)};
  STOKER_ASSIGN_OR_RETURN(plan.value, MakeFillValue(kName, "value", value, source));
  if (plan.by_row && source.shape.empty()) {
    return InvalidArgument("input_mask: field '{}' is a scalar and has no rows; use `unit: value`",
                           field);
  }
  Spec output = input.spec();
  const Shape mask = plan.by_row ? Shape{source.shape.front()} : source.shape;
  STOKER_RETURN_IF_ERROR(AddField(kName, {field + "_mask", DType::kBool, mask}, output));
  if (plan.keeps_target)
    STOKER_RETURN_IF_ERROR(AddField(kName, {target, source.dtype, source.shape}, output));
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, each {}, probability {}, value {}, unchanged {}, random {} of {}{}", field,
                  unit, probability, value, unchanged, random, vocabulary,
                  target.empty() ? "" : ", target " + target),
      std::move(output), std::make_shared<InputMaskTransform>(plan));
}

}  // namespace stoker
