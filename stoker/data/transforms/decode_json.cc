#include "stoker/data/transforms/decode_json.h"

#include <memory>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/core/row_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/bytes_field_internal.h"
#include "stoker/data/transforms/picture_names_internal.h"

namespace stoker {
namespace {

class DecodeJsonTransform final : public Transform {
 public:
  DecodeJsonTransform(size_t field, std::vector<Field> made, JsonRowParser parser,
                      PictureNames names)
      : field_(field),
        made_(std::move(made)),
        parser_(std::move(parser)),
        names_(std::move(names)) {}

  bool random() const override { return false; }

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    const Array& bytes = element.arrays[field_];
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.num_bytes());
    Result<std::vector<Array>> made = ArraysOfRow(made_, parser_, text, scratch);
    if (!made.ok()) {
      return Status(made.status().code(), fmt::format("{}: decode_json: {}", names_.NameOf(element),
                                                      made.status().message()));
    }
    element.arrays.erase(element.arrays.begin() + static_cast<std::ptrdiff_t>(field_));
    std::ranges::move(*made, std::back_inserter(element.arrays));
    return OkStatus();
  }

 private:
  const size_t field_;
  const std::vector<Field> made_;
  const JsonRowParser parser_;
  const PictureNames names_;
};

Result<Spec> OutputOf(const Spec& input, size_t field, const std::vector<Field>& made) {
  Spec output = input;
  output.fields.erase(output.fields.begin() + static_cast<std::ptrdiff_t>(field));
  output.fields.insert(output.fields.end(), made.begin(), made.end());
  if (const std::string_view name = RepeatedName(output); !name.empty()) {
    return InvalidArgument(
        "decode_json: two fields would be called '{}'; give the new one another name, such as "
        "{{my_{}: {{path: {}}}}}",
        name, name, name);
  }
  return output;
}

}  // namespace

void DecodeJson::Describe(OptionTable<DecodeJson>& table) {
  table.Field("field", &DecodeJson::field, "field with the text of a JSON object");
}

template <>
const std::vector<Option>& OptionsOf<DecodeJson>() {
  static const auto options = WithObjects<DecodeJson>(
      {ObjectOption("fields", &DecodeJson::fields,
                    "what to take, as of jsonl: {label: int64, box: {path: a.box, shape: [4]}}",
                    /*required=*/true)});
  return options;
}

Result<Dataset> DecodeJson::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, BytesField(input, kName, field));
  if (fields.empty()) return InvalidArgument("decode_json: no fields are named; name at least one");
  STOKER_ASSIGN_OR_RETURN(JsonlPlan plan, PlanJsonlFields(kName, fields));
  Result<JsonRowParser> parser = JsonRowParser::Make(std::move(plan.members));
  if (!parser.ok()) {
    return Status(parser.status().code(),
                  fmt::format("decode_json: {}", parser.status().message()));
  }
  STOKER_ASSIGN_OR_RETURN(Spec output, OutputOf(input.spec(), index, plan.spec.fields));
  std::string details = fmt::format("{}, {} fields", field, plan.spec.fields.size());
  PictureNames names(input, index);
  auto transform = std::make_shared<DecodeJsonTransform>(index, std::move(plan.spec.fields),
                                                         *std::move(parser), std::move(names));
  return MapDataset(std::move(input), std::string(kName), std::move(details), std::move(output),
                    std::move(transform));
}

}  // namespace stoker
