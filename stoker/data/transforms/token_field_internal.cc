#include "stoker/data/transforms/token_field_internal.h"

#include <cstring>

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"

namespace stoker::internal {
namespace {

class EncodeTransform final : public Transform, public WordNumbers, public NumbersCategories {
 public:
  EncodeTransform(std::string who, size_t field, std::string output, std::vector<std::string> files,
                  std::shared_ptr<const TokenEncoder> encoder)
      : who_(std::move(who)),
        field_(field),
        output_(std::move(output)),
        files_(std::move(files)),
        encoder_(std::move(encoder)) {}

  bool random() const override { return false; }
  std::vector<std::string> files() const override { return files_; }
  const std::string& numbered_field() const override { return output_; }
  const std::vector<std::string>& words() const override { return encoder_->words(); }
  int64_t first_number() const override { return encoder_->first_number(); }
  int64_t num_categories() const override { return encoder_->num_numbers(); }

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    thread_local std::vector<int32_t> tokens;  // so that it grows once
    tokens.clear();
    Array& array = element.arrays[field_];
    if (const Status status = encoder_->Encode(TextOf(array), tokens); !status.ok()) {
      return {status.code(),
              fmt::format("{}: element {}: {}", who_, element.key.index, status.message())};
    }
    array = NewTokens(tokens, scratch);
    return OkStatus();
  }

 private:
  const std::string who_;
  const size_t field_;
  const std::string output_;
  const std::vector<std::string> files_;
  const std::shared_ptr<const TokenEncoder> encoder_;
};

}  // namespace

const std::vector<std::string>& TokenEncoder::words() const {
  static const std::vector<std::string> kNone;
  return kNone;
}

Result<size_t> FindTextField(std::string_view who, const Spec& spec, const std::string& field) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(spec, who, "field", field));
  const Field& found = spec.fields[index];
  if (found.dtype == DType::kUInt8 && found.shape.size() == 1) return index;
  return InvalidArgument(
      "{}: field '{}' is {}{}; text is uint8[?], as `lines` gives it{}", who, field,
      DTypeName(found.dtype), ShapeToString(found.shape),
      found.shape.size() == 2 ? fmt::format(": put {} before padded_batch", who)
      : found.shape.empty()
          ? fmt::format(": read it as text, such as csv: {{fields: {{{}: text}}}}", field)
          : "");
}

Array NewTokens(std::span<const int32_t> tokens, Scratch& scratch) {
  Array array = scratch.NewArray(DType::kInt32, {std::ssize(tokens)});
  if (!tokens.empty()) std::memcpy(array.data(), tokens.data(), tokens.size_bytes());
  return array;
}

Result<Dataset> EncodeField(Dataset input, std::string_view who, const std::string& field,
                            const std::string& output, std::string details,
                            std::vector<std::string> files,
                            std::shared_ptr<const TokenEncoder> encoder) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, FindTextField(who, input.spec(), field));
  Spec spec = input.spec();
  for (size_t f = 0; f < spec.fields.size(); ++f) {
    if (f != index && spec.fields[f].name == output) {
      return InvalidArgument("{}: there is a field '{}' already; give `output` another name", who,
                             output);
    }
  }
  spec.fields[index] = {output, DType::kInt32, {kUnknownDim}};
  return MapDataset(std::move(input), std::string(who), std::move(details), std::move(spec),
                    std::make_shared<EncodeTransform>(std::string(who), index, output,
                                                      std::move(files), std::move(encoder)));
}

}  // namespace stoker::internal
