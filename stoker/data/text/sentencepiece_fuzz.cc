// Any bytes as a model, and any text: what is cut are numbers of the model's pieces.
#include <cstdlib>

#include "stoker/data/text/unigram_encoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  // The first two bytes say how long the model is.
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t length = std::min<size_t>(data[0] + data[1] * size_t{256}, rest.size());
  const Result<SentencePieceModel> model = ParseSentencePieceModel(rest.substr(0, length));
  if (!model.ok()) return 0;
  const std::optional<UnigramEncoder> encoder = UnigramEncoder::Of(*model);
  if (!encoder) return 0;
  UnigramEncoder::Scratch scratch;
  std::vector<int32_t> pieces;
  encoder->Encode(rest.substr(length), scratch, pieces);
  for (const int32_t piece : pieces)
    if (piece < 0 || piece >= static_cast<int32_t>(model->pieces.size())) std::abort();
  return 0;
}
