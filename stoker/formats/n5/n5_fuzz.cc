// Any text is a description of a dataset or an error; any bytes are a block of one, of no more
// values than were announced, or an error.
#include <cstdint>
#include <cstdlib>

#include "stoker/formats/n5/n5_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<N5Attributes> parsed = ParseN5Attributes(text, "input");
  if (parsed.ok() && parsed->shape.size() != parsed->block_shape.size()) std::abort();
  for (const N5Compression compression :
       {N5Compression::kRaw, N5Compression::kGzip, N5Compression::kZlib, N5Compression::kZstd}) {
    const N5Attributes attributes{.shape = {100, 90},
                                  .block_shape = {40, 30},
                                  .value = {StoredKind::kSigned, 4, true},
                                  .compression = compression};
    const Result<StoredChunk> block = ParseN5Block(attributes, bytes);
    if (!block.ok()) continue;
    if (block->shape[0] > 40 || block->shape[1] > 30) std::abort();
    if (block->owner.size() != static_cast<size_t>(block->shape[0] * block->shape[1] * 4))
      std::abort();
  }
  return 0;
}
