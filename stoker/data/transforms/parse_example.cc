#include "stoker/data/transforms/parse_example.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/core/gathering_transform.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/map.h"

namespace stoker {
namespace {

using Bytes = std::span<const std::byte>;

FeatureNames NamesOf(const std::vector<FeaturePlan>& plans) {
  std::vector<std::string> names;
  for (const FeaturePlan& plan : plans) names.push_back(plan.name());
  return FeatureNames(std::move(names));
}

class ParseExampleTransform final : public Transform, public GatheringTransform {
 public:
  ParseExampleTransform(const Dataset& input, size_t field, std::vector<FeaturePlan> features,
                        std::vector<FeaturePlan> sequences, Spec output)
      : field_(field),
        alone_(input.spec().fields.size() == 1),
        field_name_(input.spec().fields[field].name),
        source_(FindSampleNames(input)),
        features_(std::move(features)),
        sequences_(std::move(sequences)),
        feature_names_(NamesOf(features_)),
        sequence_names_(NamesOf(sequences_)),
        output_(std::move(output)) {}

  bool random() const override { return false; }

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    const Array& array = element.arrays[field_];
    std::vector<Array> made;
    STOKER_RETURN_IF_ERROR(
        Named(element.key, Parse({array.data(), array.num_bytes()}, scratch, made)));
    element.arrays.erase(element.arrays.begin() + static_cast<std::ptrdiff_t>(field_));
    std::ranges::move(made, std::back_inserter(element.arrays));
    return OkStatus();
  }

  bool gathers() const override { return alone_ && output_.ElementBytes().has_value(); }

  Result<Rows> Gather(std::span<const Element> elements, Scratch& scratch) const override {
    Rows rows;
    rows.keys.reserve(elements.size());
    std::vector<std::byte*> to;
    std::vector<size_t> row_bytes;
    for (const Field& field : output_.fields) {
      rows.columns.push_back(scratch.NewRows(std::ssize(elements), field.dtype, field.shape));
      to.push_back(rows.columns.back().data());
      row_bytes.push_back(rows.columns.back().num_bytes() / elements.size());
    }
    std::vector<FeatureValues> found(features_.size());
    for (const Element& element : elements) {
      const Array& array = element.arrays.front();
      const Bytes record(array.data(), array.num_bytes());
      Status status = FindFeatures(record, feature_names_, found);
      for (size_t i = 0; status.ok() && i < found.size(); ++i) {
        status = features_[i].WriteFixed(record, found[i], to[i]);
        to[i] += row_bytes[i];
      }
      STOKER_RETURN_IF_ERROR(Named(element.key, status));
      rows.keys.push_back(element.key);
    }
    return rows;
  }

 private:
  Status Parse(Bytes record, Scratch& scratch, std::vector<Array>& made) const {
    std::vector<FeatureValues> found(features_.size());
    std::vector<FeatureSteps> steps(sequences_.size());
    if (sequences_.empty()) {
      STOKER_RETURN_IF_ERROR(FindFeatures(record, feature_names_, found));
    } else {
      STOKER_RETURN_IF_ERROR(
          FindSequenceFeatures(record, feature_names_, found, sequence_names_, steps));
    }
    for (size_t i = 0; i < found.size(); ++i)
      STOKER_RETURN_IF_ERROR(features_[i].MakeArrays(record, found[i], scratch, made));
    for (size_t i = 0; i < steps.size(); ++i)
      STOKER_RETURN_IF_ERROR(sequences_[i].MakeSequence(record, steps[i], scratch, made));
    return OkStatus();
  }

  Status Named(const SampleKey& key, const Status& status) const {
    if (status.ok()) return status;
    std::string name = source_ ? source_->NameOfKey(key, field_name_) : "";
    if (name.empty()) name = fmt::format("element {}", key.index);
    return Status(status.code(), fmt::format("{}: {}", name, status.message()));
  }

  const size_t field_;
  const bool alone_;  // the elements have no other field
  const std::string field_name_;
  const std::shared_ptr<const SampleNames> source_;
  const std::vector<FeaturePlan> features_, sequences_;
  const FeatureNames feature_names_, sequence_names_;
  const Spec output_;
};

Result<std::vector<FeaturePlan>> PlansOf(const ExampleFeatures& features) {
  std::vector<FeaturePlan> plans;
  std::set<std::string_view> names;
  for (const ExampleFeature& feature : features.features()) {
    if (!names.insert(feature.name).second)
      return InvalidArgument("parse_example: feature '{}' is named twice; name it once",
                             feature.name);
    Result<FeaturePlan> plan = FeaturePlan::Make(feature);
    if (!plan.ok())
      return Status(plan.status().code(),
                    fmt::format("parse_example: {}", plan.status().message()));
    plans.push_back(*std::move(plan));
  }
  return plans;
}

Result<Spec> OutputOf(const Spec& input, size_t field, const std::vector<FeaturePlan>& features,
                      const std::vector<FeaturePlan>& sequences) {
  Spec output = input;
  output.fields.erase(output.fields.begin() + static_cast<std::ptrdiff_t>(field));
  const auto add = [&](const std::vector<Field>& fields) {
    output.fields.insert(output.fields.end(), fields.begin(), fields.end());
  };
  for (const FeaturePlan& plan : features) add(plan.Fields(/*sequence=*/false));
  for (const FeaturePlan& plan : sequences) add(plan.Fields(/*sequence=*/true));
  if (const std::string_view name = RepeatedName(output); !name.empty()) {
    return InvalidArgument(
        "parse_example: two fields would be called '{}'; give one another name with `field:`",
        name);
  }
  return output;
}

}  // namespace

void ParseExample::Describe(OptionTable<ParseExample>& table) {
  table.Field("field", &ParseExample::field, "the field with the records");
}

template <>
const std::vector<Option>& OptionsOf<ParseExample>() {
  static const auto options = WithObjects<ParseExample>(
      {ObjectOption("features", &ParseExample::features,
                    "what to take: {label: int64, image: {type: bytes, shape: [1, 28, 28]}}"),
       ObjectOption("sequences", &ParseExample::sequences,
                    "likewise of the feature lists of a SequenceExample; shapes are of one step")});
  return options;
}

Result<Dataset> ParseExample::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  const Field& records = input.spec().fields[index];
  if (records.dtype != DType::kUInt8 || records.shape.size() != 1) {
    return InvalidArgument(
        "parse_example: field '{}' is {}{}; it must be uint8[?], the bytes of a record{}",
        records.name, DTypeName(records.dtype), ShapeToString(records.shape),
        records.shape.size() == 2 ? ": put parse_example before batch" : "");
  }
  if (features.empty() && sequences.empty())
    return InvalidArgument("parse_example: no features are named; name at least one");
  STOKER_ASSIGN_OR_RETURN(std::vector<FeaturePlan> plans, PlansOf(features));
  STOKER_ASSIGN_OR_RETURN(std::vector<FeaturePlan> steps, PlansOf(sequences));
  STOKER_ASSIGN_OR_RETURN(Spec output, OutputOf(input.spec(), index, plans, steps));
  std::string details = fmt::format("{} features", plans.size() + steps.size());
  auto transform = std::make_shared<ParseExampleTransform>(input, index, std::move(plans),
                                                           std::move(steps), output);
  return MapDataset(std::move(input), std::string(kName), std::move(details), std::move(output),
                    std::move(transform));
}

}  // namespace stoker
