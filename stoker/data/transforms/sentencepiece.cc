#include "stoker/data/transforms/sentencepiece.h"

#include <sentencepiece_processor.h>

#include "stoker/data/text/unigram_encoder.h"
#include "stoker/data/transforms/token_field_internal.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

// Unigram models, which most are.
class OwnEncoder final : public internal::TokenEncoder {
 public:
  OwnEncoder(UnigramEncoder encoder, int64_t pieces, std::optional<int32_t> begin,
             std::optional<int32_t> end)
      : encoder_(std::move(encoder)), pieces_(pieces), begin_(begin), end_(end) {}

  Status Encode(std::string_view text, std::vector<int32_t>& out) const override {
    thread_local UnigramEncoder::Scratch scratch;
    if (begin_) out.push_back(*begin_);
    encoder_.Encode(text, scratch, out);
    if (end_) out.push_back(*end_);
    return OkStatus();
  }

  int64_t num_numbers() const override { return pieces_; }

 private:
  const UnigramEncoder encoder_;
  const int64_t pieces_;
  const std::optional<int32_t> begin_, end_;
};

// All others.
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

  int64_t num_numbers() const override { return model_->GetPieceSize(); }

 private:
  const std::unique_ptr<const Processor> model_;
  const bool begin_, end_;
};

// `contents`: the result of our own parser, whose errors say more.
Result<std::unique_ptr<const Processor>> LoadModel(const std::string& path, std::string_view bytes,
                                                   const Result<SentencePieceModel>& contents) {
  auto model = std::make_unique<Processor>();
  const auto status = model->LoadFromSerializedProto({bytes.data(), bytes.size()});
  if (status.ok() && model->GetPieceSize() > 0)
    return std::unique_ptr<const Processor>(std::move(model));
  constexpr const char* kAdvice =
      "this is no SentencePiece model, or a part of one: check the path, or copy the file again";
  if (!contents.ok()) return DataLoss("{}: {}; {}", path, contents.status().message(), kAdvice);
  if (contents->pieces.empty())
    return DataLoss("{}: byte {}: the file ends without a piece; {}", path, bytes.size(), kAdvice);
  return DataLoss("{}: {} pieces, which the SentencePiece library does not take: {}; make it again",
                  path, contents->pieces.size(), status.ToString());
}

}  // namespace

void Sentencepiece::Describe(OptionTable<Sentencepiece>& table) {
  table.Field("model", &Sentencepiece::model, "the model, x.model").Required();
  table.Field("field", &Sentencepiece::field, "the field that holds the text")
      .Field("output", &Sentencepiece::output, "what the field with the numbers is called")
      .Field("begin", &Sentencepiece::begin, "put the model's begin-of-sentence in front")
      .Field("end", &Sentencepiece::end, "append the model's end-of-sentence");
}

Result<Dataset> Sentencepiece::Build(Dataset input) const {
  const std::string path = model.string();
  // The library would say less about a file that cannot be read.
  STOKER_ASSIGN_OR_RETURN(const Buffer file, ReadWholeFile(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  const Result<SentencePieceModel> contents = ParseSentencePieceModel(bytes);
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<const Processor> processor,
                          LoadModel(path, bytes, contents));
  std::optional<int32_t> bos, eos;
  if (begin) bos = processor->bos_id();
  if (end) eos = processor->eos_id();
  if (bos.value_or(0) < 0 || eos.value_or(0) < 0) {
    const std::string_view which = bos.value_or(0) < 0 ? "begin" : "end";
    return InvalidArgument(
        "sentencepiece: {} has no token for the {} of a sentence; leave `{}` out", path, which,
        which);
  }
  std::string details = fmt::format("{}, {} pieces with checksum {:08x}", path,
                                    processor->GetPieceSize(), Crc32c(bytes));
  std::optional<UnigramEncoder> own = contents.ok() ? UnigramEncoder::Of(*contents) : std::nullopt;
  std::shared_ptr<const internal::TokenEncoder> encoder;
  if (own) {
    encoder = std::make_shared<OwnEncoder>(*std::move(own), processor->GetPieceSize(), bos, eos);
  } else {
    encoder = std::make_shared<SentencepieceEncoder>(std::move(processor), begin, end);
  }
  return internal::EncodeField(std::move(input), kName, field, output, std::move(details), {path},
                               std::move(encoder));
}

}  // namespace stoker
