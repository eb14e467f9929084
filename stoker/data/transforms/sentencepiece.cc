#include "stoker/data/transforms/sentencepiece.h"

#include <sentencepiece_processor.h>

#include "stoker/data/transforms/token_field_internal.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

class SentencepieceEncoder final : public internal::TokenEncoder {
 public:
  SentencepieceEncoder(std::unique_ptr<const Processor> model, bool begin, bool end)
      : model_(std::move(model)), begin_(begin), end_(end) {}

  Status Encode(std::string_view text, std::vector<int32_t>& out) const override {
    if (begin_) out.push_back(model_->bos_id());
    thread_local std::vector<int> pieces;
    const auto status = model_->Encode({text.data(), text.size()}, &pieces);
    if (!status.ok()) return InvalidArgument("{}", status.ToString());
    out.insert(out.end(), pieces.begin(), pieces.end());
    if (end_) out.push_back(model_->eos_id());
    return OkStatus();
  }

 private:
  const std::unique_ptr<const Processor> model_;
  const bool begin_, end_;
};

Result<std::unique_ptr<const Processor>> LoadModel(const std::string& path) {
  // The library would say less about a file that cannot be read.
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  auto model = std::make_unique<Processor>();
  const auto status =
      model->LoadFromSerializedProto({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!status.ok() || model->GetPieceSize() == 0)
    return DataLoss("{}: this is no SentencePiece model; check the path", path);
  return std::unique_ptr<const Processor>(std::move(model));
}

}  // namespace

void Sentencepiece::Describe(OptionTable<Sentencepiece>& table) {
  table.Field("model", &Sentencepiece::model, "the model, x.model").Required();
  table.Field("field", &Sentencepiece::field, "the field that holds the text")
      .Field("output", &Sentencepiece::output, "what the field with the numbers is called")
      .Field("begin", &Sentencepiece::begin, "put the model's begin-of-sentence in front")
      .Field("end", &Sentencepiece::end, "put the model's end-of-sentence behind");
}

Result<Dataset> Sentencepiece::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<const Processor> processor, LoadModel(model.string()));
  if ((begin && processor->bos_id() < 0) || (end && processor->eos_id() < 0)) {
    return InvalidArgument(
        "sentencepiece: {} has no token for the {} of a sentence; leave `{}` out", model.string(),
        begin && processor->bos_id() < 0 ? "begin" : "end",
        begin && processor->bos_id() < 0 ? "begin" : "end");
  }
  std::string details = fmt::format("{}, {} pieces", model.string(), processor->GetPieceSize());
  return internal::EncodeField(
      std::move(input), kName, field, output, std::move(details),
      std::make_shared<SentencepieceEncoder>(std::move(processor), begin, end));
}

}  // namespace stoker
