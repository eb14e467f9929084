#include "stoker/data/transforms/bucketize.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr double kMaxQuantiles = 1 << 20;
constexpr size_t kValuesAtATime = 256;

struct BucketizePlan {
  size_t field = 0;
  std::string name;
  std::vector<double> bounds;
  std::optional<int64_t> nan;
};

class BucketizeTransform final : public Transform, public NumbersCategories {
 public:
  explicit BucketizeTransform(BucketizePlan plan) : plan_(std::move(plan)) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    return Number(element.arrays[plan_.field], std::span(&element.key, 1), scratch);
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    return Number(rows.columns[plan_.field], rows.keys, scratch);
  }

  bool random() const override { return false; }
  bool works_on_columns() const override { return true; }

  const std::string& numbered_field() const override { return plan_.name; }
  int64_t num_categories() const override {
    return std::max(std::ssize(plan_.bounds) + 1, plan_.nan.value_or(0) + 1);
  }

 private:
  // `values` are those of the elements `keys`, equally many of each.
  Status Number(Array& values, std::span<const SampleKey> keys, Scratch& scratch) const {
    const auto n = static_cast<size_t>(values.num_values());
    Array out = scratch.NewArray(DType::kInt64, values.shape());
    const std::span<int64_t> numbers = out.values<int64_t>();
    // On the stack, so that no memory is needed but for the result.
    std::array<double, kValuesAtATime> wide;
    for (size_t begin = 0; begin < n; begin += kValuesAtATime) {
      const size_t count = std::min(kValuesAtATime, n - begin);
      CastValues(values.dtype(), values.data() + begin * DTypeSize(values.dtype()), count,
                 DType::kFloat64, reinterpret_cast<std::byte*>(wide.data()));
      for (size_t i = 0; i < count; ++i) {
        if (std::isnan(wide[i]) && !plan_.nan) return Nan(keys[(begin + i) / (n / keys.size())]);
        numbers[begin + i] = BucketOf(wide[i]);
      }
    }
    values = std::move(out);
    return OkStatus();
  }

  int64_t BucketOf(double value) const {
    if (std::isnan(value)) return *plan_.nan;
    return std::ranges::upper_bound(plan_.bounds, value) - plan_.bounds.begin();
  }

  Status Nan(const SampleKey& key) const {
    return OutOfRange(
        "bucketize: element {}: field '{}' has a NaN, which lies in no bucket; say with `nan` "
        "which number it gets, or leave the sample out with `filter`",
        key.index, plan_.name);
  }

  const BucketizePlan plan_;
};

Status CheckBounds(const std::vector<double>& bounds) {
  if (bounds.empty()) {
    return InvalidArgument(
        "bucketize: there are no bounds; say where buckets begin, such as bounds: [18, 65]");
  }
  const auto falls = std::ranges::adjacent_find(bounds, std::greater_equal<>());
  if (falls == bounds.end()) return OkStatus();
  return InvalidArgument("bucketize: bounds: {} is followed by {}; bounds rise, such as [18, 65]",
                         falls[0], falls[1]);
}

}  // namespace

Status Bucketize::CheckIsNumbers(const Field& field) {
  if (field.dtype != DType::kUInt8 || IsFullyKnown(field.shape)) return OkStatus();
  return InvalidArgument(
      "bucketize: field '{}' is {}, a text or a file, and buckets are of numbers; read it as a "
      "number, such as csv: {{fields: {{{}: float32}}}}, or number its words with `lookup`",
      field.name, field.ToString(), field.name);
}

void Bucketize::Describe(OptionTable<Bucketize>& table) {
  table
      .Field("bounds", &Bucketize::bounds,
             "where buckets begin, in rising order: [18, 65] makes buckets 0, 1 and 2; auto: they "
             "are learned from the training data")
      .Field("field", &Bucketize::field, "field of numbers")
      .Field("nan", &Bucketize::nan, "the number of a NaN; auto: it is an error")
      .Field("nan_to_middle", &Bucketize::nan_to_middle,
             "whether a NaN gets the number of the bucket in the middle")
      .Field("quantiles", &Bucketize::quantiles,
             "how many buckets of about equal counts are learned", Between(2, kMaxQuantiles));
}

Result<Dataset> Bucketize::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  STOKER_RETURN_IF_ERROR(CheckIsNumbers(input.spec().fields[index]));
  STOKER_RETURN_IF_ERROR(CheckBounds(bounds));
  Spec output = input.spec();
  output.fields[index].dtype = DType::kInt64;
  std::string details = fmt::format("{}, {} buckets, bounds {}", field, bounds.size() + 1,
                                    ShortText(fmt::format("{}", fmt::join(bounds, " "))));
  if (nan && nan_to_middle) {
    return InvalidArgument(
        "bucketize: nan and nan_to_middle both say what a NaN becomes; leave one out");
  }
  BucketizePlan plan{.field = index, .name = field, .bounds = bounds, .nan = nan};
  if (nan_to_middle) plan.nan = std::ssize(bounds) / 2;
  if (plan.nan) details += fmt::format(", NaN {}", *plan.nan);
  // Else the value 0.7 of a file would lie below the bound 0.7.
  if (input.spec().fields[index].dtype == DType::kFloat32) {
    for (double& bound : plan.bounds) bound = static_cast<double>(static_cast<float>(bound));
  }
  return MapDataset(std::move(input), std::string(kName), std::move(details), std::move(output),
                    std::make_shared<BucketizeTransform>(std::move(plan)));
}

}  // namespace stoker
