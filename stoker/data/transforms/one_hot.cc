#include "stoker/data/transforms/one_hot.h"

#include <algorithm>
#include <array>

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr double kMaxClasses = 1 << 24;
constexpr size_t kAtATime = 256;

struct OneHotPlan {
  size_t field = 0;
  std::string name;
  int64_t classes = 0;
  float on = 1;
  float off = 0;
};

class OneHotTransform final : public Transform {
 public:
  explicit OneHotTransform(OneHotPlan plan) : plan_(std::move(plan)) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    return Expand(element.arrays[plan_.field], std::span(&element.key, 1), scratch);
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    return Expand(rows.columns[plan_.field], rows.keys, scratch);
  }

  bool random() const override { return false; }
  bool works_on_columns() const override { return true; }

 private:
  // `labels` are those of the elements `keys`, equally many of each.
  Status Expand(Array& labels, std::span<const SampleKey> keys, Scratch& scratch) const {
    const auto n = static_cast<size_t>(labels.num_values());
    Shape shape = labels.shape();
    shape.push_back(plan_.classes);
    Array out = scratch.NewArray(DType::kFloat32, std::move(shape));
    std::ranges::fill(out.values<float>(), plan_.off);
    float* row = out.values<float>().data();
    std::array<int64_t, kAtATime> wide;  // here, so that no memory is needed but for the result
    for (size_t begin = 0; begin < n; begin += kAtATime) {
      const size_t count = std::min(kAtATime, n - begin);
      CastValues(labels.dtype(), labels.data() + begin * DTypeSize(labels.dtype()), count,
                 DType::kInt64, reinterpret_cast<std::byte*>(wide.data()));
      for (size_t i = 0; i < count; ++i, row += plan_.classes) {
        if (wide[i] < 0 || wide[i] >= plan_.classes)
          return Outside(wide[i], keys[(begin + i) / (n / keys.size())]);
        row[wide[i]] = plan_.on;
      }
    }
    labels = std::move(out);
    return OkStatus();
  }

  Status Outside(int64_t value, const SampleKey& key) const {
    return OutOfRange(
        "one_hot: element {}: field '{}' is {}, but the classes are 0..{}; correct the label or "
        "`classes`",
        key.index, plan_.name, value, plan_.classes - 1);
  }

  const OneHotPlan plan_;
};

}  // namespace

void OneHot::Describe(OptionTable<OneHot>& table) {
  table.Field("classes", &OneHot::classes, "how many classes there are", Between(1, kMaxClasses))
      .Required()
      .Field("smoothing", &OneHot::smoothing,
             "share of the weight that is spread over all classes evenly", Between(0, 1))
      .Field("field", &OneHot::field, "field that holds the class numbers");
}

Result<Dataset> OneHot::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  Spec output = input.spec();
  Field& labels = output.fields[index];
  if (IsFloating(labels.dtype) || labels.dtype == DType::kBool) {
    return InvalidArgument(
        "one_hot: field '{}' is {}; class numbers are integers: put `cast: {{field: {}, dtype: "
        "int64}}` in front",
        field, DTypeName(labels.dtype), field);
  }
  labels.dtype = DType::kFloat32;
  labels.shape.push_back(classes);
  const double off = smoothing / static_cast<double>(classes);
  OneHotPlan plan{.field = index,
                  .name = field,
                  .classes = classes,
                  .on = static_cast<float>(1 - smoothing + off),
                  .off = static_cast<float>(off)};
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {} classes{}", field, classes,
                                smoothing > 0 ? fmt::format(", smoothing {}", smoothing) : ""),
                    std::move(output), std::make_shared<OneHotTransform>(std::move(plan)));
}

}  // namespace stoker
