#include "stoker/data/transforms/feature_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/data/core/add_field.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/nodes/map.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr std::string_view kCategory = "category";
constexpr std::string_view kCut = "cut";
constexpr double kWidestEmbedding = 1 << 16;
constexpr size_t kConvertedAtOnce = 64;

// One feature and its place in the row.
struct PlacedFeature {
  std::string name;
  size_t field = 0;
  int64_t begin = 0;       // first value in the row
  int64_t slots = 1;       // values of the field
  bool varies = false;     // a list of up to `slots` values
  bool cuts = false;       // whether it may be longer, and the rest is left out
  int64_t categories = 0;  // 0: numbers
  bool fills = false;      // a missing number becomes 0
  int64_t indicator = -1;  // where it is said which of the numbers are missing; -1: nowhere
  float clip = std::numeric_limits<float>::infinity();
};

struct FeatureRowPlan {
  std::vector<PlacedFeature> features;
  std::vector<size_t> gone;  // fields, falling
  int64_t width = 0;
  std::string to;
  FeatureLayout layout;
};

class FeatureRowTransform final : public Transform, public MakesFeatures {
 public:
  explicit FeatureRowTransform(FeatureRowPlan plan) : plan_(std::move(plan)) {}

  bool random() const override { return false; }
  bool works_on_columns() const override {
    return std::ranges::none_of(plan_.features, &PlacedFeature::varies);
  }
  const std::string& features_field() const override { return plan_.to; }
  const FeatureLayout& layout() const override { return plan_.layout; }

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    return Put(element.arrays, std::span(&element.key, 1), {plan_.width}, scratch);
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    if (!works_on_columns()) return Transform::ApplyRows(rows, rngs, scratch);
    return Put(rows.columns, rows.keys, {rows.size(), plan_.width}, scratch);
  }

 private:
  Status Put(std::vector<Array>& arrays, std::span<const SampleKey> keys, Shape shape,
             Scratch& scratch) const {
    Array out = scratch.NewArray(DType::kFloat32, std::move(shape));
    for (const PlacedFeature& feature : plan_.features)
      STOKER_RETURN_IF_ERROR(PutFeature(feature, arrays[feature.field], keys, out.values<float>()));
    for (const size_t field : plan_.gone)
      arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(field));
    arrays.push_back(std::move(out));
    return OkStatus();
  }

  // The field's values, some at a time, in each row from the feature's place on. A list that varies
  // comes one sample at a time.
  Status PutFeature(const PlacedFeature& feature, const Array& values,
                    std::span<const SampleKey> keys, std::span<float> out) const {
    std::array<double, kConvertedAtOnce> wide;
    auto n = static_cast<size_t>(values.num_values());
    if (feature.varies) {
      if (values.num_values() > feature.slots && !feature.cuts)
        return TooLong(feature, values.num_values(), keys.front());
      n = std::min(n, static_cast<size_t>(feature.slots));
      std::fill_n(out.data() + feature.begin, feature.slots, -1.f);
    }
    for (size_t begin = 0; begin < n; begin += kConvertedAtOnce) {
      const size_t count = std::min(kConvertedAtOnce, n - begin);
      CastValues(values.dtype(), values.data() + begin * DTypeSize(values.dtype()), count,
                 DType::kFloat64, reinterpret_cast<std::byte*>(wide.data()));
      for (size_t i = 0; i < count; ++i) {
        const auto at = static_cast<int64_t>(begin + i);
        const int64_t row = at / feature.slots, slot = at % feature.slots;
        float* const to = out.data() + row * plan_.width;
        if (feature.indicator >= 0) to[feature.indicator + slot] = std::isnan(wide[i]) ? 1.f : 0.f;
        STOKER_RETURN_IF_ERROR(
            PutValue(feature, wide[i], keys[static_cast<size_t>(row)], to[feature.begin + slot]));
      }
    }
    return OkStatus();
  }

  static Status PutValue(const PlacedFeature& feature, double value, const SampleKey& key,
                         float& to) {
    if (feature.categories > 0) {
      if (std::isnan(value)) value = -1;
      to = static_cast<float>(value);
      const bool known = value >= -1 && value < static_cast<double>(feature.categories);
      return known && value == std::trunc(value) ? OkStatus() : NoCategory(feature, value, key);
    }
    if (std::isnan(value)) {
      to = 0;
      return feature.fills ? OkStatus() : Missing(feature, key);
    }
    to = std::clamp(static_cast<float>(value), -feature.clip, feature.clip);
    return std::isinf(to) ? Infinite(feature, key) : OkStatus();
  }

  static Status NoCategory(const PlacedFeature& feature, double value, const SampleKey& key) {
    return OutOfRange(
        "feature_row: element {}: feature '{}' is {}, and its categories are the numbers 0 to {} "
        "(-1: none); correct it, or say how many there are (`categories`, in data.features "
        "`integers`)",
        key.index, feature.name, value, feature.categories - 1);
  }

  static Status TooLong(const PlacedFeature& feature, int64_t values, const SampleKey& key) {
    return OutOfRange(
        "feature_row: element {}: feature '{}' has {} values, and `most` is {}; give a greater "
        "`most`, or leave out those beyond it with `longer: cut`",
        key.index, feature.name, values, feature.slots);
  }

  static Status Infinite(const PlacedFeature& feature, const SampleKey& key) {
    return OutOfRange(
        "feature_row: element {}: feature '{}' is infinite, or beyond float32; correct it, or "
        "bound it with `clip`",
        key.index, feature.name);
  }

  static Status Missing(const PlacedFeature& feature, const SampleKey& key) {
    return OutOfRange(
        "feature_row: element {}: feature '{}' is missing (NaN); `missing: mean` puts the mean in "
        "its place if it is normalized, csv's `default` any number",
        key.index, feature.name);
  }

  const FeatureRowPlan plan_;
};

FeaturePart PartNamed(const std::string& name) {
  if (name == "wide") return FeaturePart::kWide;
  return name == "deep" ? FeaturePart::kDeep : FeaturePart::kBoth;
}

// What says something about categories is wrong for a number, and the other way round.
Status CheckSort(const RowFeature& feature) {
  const bool category = feature.is == kCategory;
  const RowFeature defaults;
  const char* wrong = nullptr;
  if (category && feature.missing != defaults.missing) wrong = "missing";
  if (category && feature.indicator) wrong = "indicator";
  if (category && feature.clip) wrong = "clip";
  if (!category && feature.categories) wrong = "categories";
  if (!category && feature.embedding) wrong = "embedding";
  if (!category && !feature.shared.empty()) wrong = "shared";
  if (!category && feature.most) wrong = "most";
  if (wrong != nullptr) {
    return InvalidArgument("feature_row: feature '{}' is a {}, which has no `{}`", feature.name,
                           feature.is, wrong);
  }
  if (feature.longer != defaults.longer && !feature.most) {
    return InvalidArgument(
        "feature_row: feature '{}': `longer` says what becomes of lists with more values than "
        "`most`, which is not given",
        feature.name);
  }
  if (!feature.shared.empty() && !feature.embedding) {
    return InvalidArgument(
        "feature_row: feature '{}': shared names vectors that it has in common with others; say "
        "with `embedding` how wide they are",
        feature.name);
  }
  return OkStatus();
}

// How many categories a feature has.
Result<int64_t> CategoriesOf(const RowFeature& feature, const Dataset& input) {
  const std::optional<int64_t> found = FindNumCategories(input, feature.name);
  if (!feature.categories && !found) {
    return InvalidArgument(
        "feature_row: how many categories feature '{}' has is not known; say it with `categories`, "
        "or number them by `lookup`, `words`, `bucketize` or `hash`",
        feature.name);
  }
  const int64_t categories = feature.categories.value_or(found.value_or(0));
  if (found && categories < *found) {
    return InvalidArgument(
        "feature_row: feature '{}' has {} categories by the stage that numbers them, and "
        "`categories` is {}",
        feature.name, *found, categories);
  }
  if (categories > kMostCategories) {
    return InvalidArgument(
        "feature_row: feature '{}' has {} categories; at most {} are exact in float32: `hash` "
        "makes fewer",
        feature.name, categories, kMostCategories);
  }
  return categories;
}

bool IsListThatVaries(const Field& field) {
  return field.shape.size() == 1 && field.shape[0] == kUnknownDim && field.dtype != DType::kUInt8;
}

Result<int64_t> SlotsOf(const RowFeature& feature, const Field& field) {
  if (IsListThatVaries(field) && feature.most) return *feature.most;
  const bool one = field.shape.empty();
  if (one || (field.shape.size() == 1 && field.shape[0] > 0)) {
    if (!feature.most) return one ? 1 : field.shape[0];
    return InvalidArgument(
        "feature_row: feature '{}' is {}, which has as many values in each sample; `most` is for "
        "lists that differ in length, so leave it out, or say in data.features with `separator` "
        "what stands between the words of a text",
        feature.name, field.ToString());
  }
  const bool text = field.dtype == DType::kUInt8 && !IsFullyKnown(field.shape);
  const bool list_of_categories = IsListThatVaries(field) && feature.is == kCategory;
  return InvalidArgument(
      "feature_row: feature '{}' is {}; it must be a number, or a list of equally many in each "
      "sample{}",
      feature.name, field.ToString(),
      text ? ": number its words by `lookup` or `hash` (in data.features vocabulary or hash, not "
             "integers), or those of a list by `words` (in data.features with a separator)"
      : list_of_categories ? ", unless `most` says how many values of a list there may be"
                           : "");
}

// Features with the same vectors must have equally many, of one width.
Status CheckShared(const std::vector<FeatureColumn>& columns) {
  for (const FeatureColumn& column : columns) {
    if (column.shared.empty()) continue;
    const auto first = std::ranges::find(columns, column.shared, &FeatureColumn::shared);
    if (first->categories == column.categories && first->embedding == column.embedding) continue;
    return InvalidArgument(
        "feature_row: features '{}' and '{}' share '{}', but have {} categories of {} values and "
        "{} of {}; they must be alike, as by one list of words or one number of buckets",
        first->name, column.name, column.shared, first->categories, first->embedding,
        column.categories, column.embedding);
  }
  return OkStatus();
}

// Adds numbers first, then categories, so that the numbers of a batch are one block.
class RowPlanner {
 public:
  RowPlanner(const FeatureRow& options, const Dataset& input) : options_(options), input_(input) {}

  Result<FeatureRowPlan> Plan() {
    plan_.to = options_.to;
    for (const bool categories : {false, true}) {
      for (const RowFeature& feature : options_.features.fields()) {
        if ((feature.is == kCategory) == categories) STOKER_RETURN_IF_ERROR(Add(feature));
      }
    }
    STOKER_RETURN_IF_ERROR(CheckShared(plan_.layout.columns));
    for (const std::string& name : options_.drop) {
      const auto field = std::ranges::find(input_.spec().fields, name, &Field::name);
      if (field != input_.spec().fields.end())
        plan_.gone.push_back(static_cast<size_t>(field - input_.spec().fields.begin()));
    }
    std::ranges::sort(plan_.gone, std::greater<>());
    const auto repeated = std::ranges::unique(plan_.gone);
    plan_.gone.erase(repeated.begin(), repeated.end());
    return std::move(plan_);
  }

 private:
  Status Add(const RowFeature& feature) {
    STOKER_RETURN_IF_ERROR(CheckOptionsOf(feature));
    STOKER_RETURN_IF_ERROR(CheckSort(feature));
    STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input_.spec(), FeatureRow::kName,
                                                              "features", feature.name));
    if (std::ranges::find(plan_.gone, index) != plan_.gone.end())
      return InvalidArgument("feature_row: features names '{}' twice; name each once",
                             feature.name);
    STOKER_ASSIGN_OR_RETURN(const int64_t slots, SlotsOf(feature, input_.spec().fields[index]));
    PlacedFeature placed{.name = feature.name,
                         .field = index,
                         .begin = plan_.width,
                         .slots = slots,
                         .varies = feature.most.has_value(),
                         .cuts = feature.longer == kCut};
    FeatureColumn column{.name = feature.name, .slots = slots, .part = PartNamed(feature.part)};
    if (feature.is == kCategory) {
      STOKER_ASSIGN_OR_RETURN(placed.categories, CategoriesOf(feature, input_));
      column.categories = placed.categories;
      column.embedding = feature.embedding.value_or(0);
      column.shared = feature.shared;
      column.combine = CombineNamed(feature.combine);
    } else {
      placed.fills = feature.missing == "mean";
      if (feature.clip) placed.clip = static_cast<float>(*feature.clip);
    }
    plan_.width += slots;
    plan_.layout.columns.push_back(column);
    if (feature.indicator) {
      placed.indicator = plan_.width;
      plan_.width += slots;
      column.name += "_missing";
      plan_.layout.columns.push_back(column);
    }
    plan_.gone.push_back(index);
    plan_.features.push_back(std::move(placed));
    return OkStatus();
  }

  const FeatureRow& options_;
  const Dataset& input_;
  FeatureRowPlan plan_;
};

std::string DetailsOf(const FeatureRowPlan& plan) {
  const int64_t numbers = plan.layout.NumNumbers();
  return fmt::format("{} numbers and {} categories to {}", numbers, plan.width - numbers, plan.to);
}

}  // namespace

void RowFeature::Describe(OptionTable<RowFeature>& table) {
  table
      .Field("is", &RowFeature::is, "what its values are",
             OneOf{{"number", std::string(kCategory)}})
      .Field("categories", &RowFeature::categories,
             "how many categories there are; auto: as the stage says that numbered them",
             Between(1, static_cast<double>(kMostCategories)))
      .Field("embedding", &RowFeature::embedding,
             "values of the vector of a category; auto: a value of its own for each",
             Between(1, kWidestEmbedding))
      .Field("shared", &RowFeature::shared,
             "a name for its vectors; features of the same name have the same ones")
      .Field("combine", &RowFeature::combine, "what becomes of the vectors of a list",
             OneOf{{"mean", "sum", "sqrtn"}})
      .Field("most", &RowFeature::most,
             "the most values of a list that differs in length from sample to sample; auto: all "
             "have as many",
             Between(1, static_cast<double>(kMostOfAList)))
      .Field("longer", &RowFeature::longer,
             "a list with more values than that: an error, or the rest is left out",
             OneOf{{"error", std::string(kCut)}})
      .Field("part", &RowFeature::part, "which part of wide_and_deep gets it",
             OneOf{{"both", "wide", "deep"}})
      .Field("missing", &RowFeature::missing,
             "what a missing number becomes: an error, or 0, which is the mean after `normalize`",
             OneOf{{"error", "mean"}})
      .Field("indicator", &RowFeature::indicator,
             "whether another number says if it is missing: 1, else 0")
      .Field("clip", &RowFeature::clip, "the greatest size of a number; auto: any", MoreThan(0));
}

void FeatureRow::Describe(OptionTable<FeatureRow>& table) {
  table.Field("to", &FeatureRow::to, "name of the field for the row")
      .Field("drop", &FeatureRow::drop,
             "other fields to take out, where they are there, such as texts");
}

template <>
const std::vector<Option>& OptionsOf<FeatureRow>() {
  static const auto options = WithObjects<FeatureRow>(
      {ObjectOption("features", &FeatureRow::features,
                    "the features by the names of their fields: {carat: number, cut: category}",
                    /*required=*/true)});
  return options;
}

Result<Dataset> FeatureRow::Build(Dataset input) const {
  if (features.empty())
    return InvalidArgument("feature_row: features is empty; name the fields to learn from");
  STOKER_ASSIGN_OR_RETURN(FeatureRowPlan plan, RowPlanner(*this, input).Plan());
  Spec output = input.spec();
  for (const size_t field : plan.gone)
    output.fields.erase(output.fields.begin() + static_cast<std::ptrdiff_t>(field));
  if (std::ranges::find(output.fields, to, &Field::name) != output.fields.end()) {
    return InvalidArgument(
        "feature_row: there is a field '{}' beside the features; take it out with `drop` (in "
        "data.features: `{}: drop`), or call the row otherwise by hand",
        to, to);
  }
  STOKER_RETURN_IF_ERROR(AddField(kName, {to, DType::kFloat32, {plan.width}}, output));
  std::string details = DetailsOf(plan);
  return MapDataset(std::move(input), std::string(kName), std::move(details), std::move(output),
                    std::make_shared<FeatureRowTransform>(std::move(plan)));
}

}  // namespace stoker
