#include "stoker/formats/chunked/inflate_block.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <limits>
#include <memory>

namespace stoker {
namespace {

Status InflateDeflated(BlockForm form, std::span<const std::byte> block, std::span<std::byte> out) {
  constexpr size_t kMostAtOnce = std::numeric_limits<uint32_t>::max();
  if (block.size() > kMostAtOnce || out.size() > kMostAtOnce)
    return Unimplemented("a compressed chunk has more than 4 GiB");
  thread_local const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = form == BlockForm::kZlib ? ISAL_ZLIB : ISAL_GZIP;
  // isa-l takes a pointer to what it does not change.
  state->next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(block.data()));
  state->avail_in = static_cast<uint32_t>(block.size());
  state->next_out = reinterpret_cast<uint8_t*>(out.data());
  state->avail_out = static_cast<uint32_t>(out.size());
  const int error = isal_inflate(state.get());
  if (error == ISAL_INCORRECT_CHECKSUM)
    return DataLoss("the decompressed bytes lack their checksum");
  if (error != ISAL_DECOMP_OK || state->block_state != ISAL_BLOCK_FINISH || state->avail_out != 0)
    return DataLoss("it does not decompress to {} bytes", out.size());
  return OkStatus();
}

}  // namespace

Status InflateBlock(BlockForm form, std::span<const std::byte> block, std::span<std::byte> out) {
  if (form != BlockForm::kZstd) return InflateDeflated(form, block, out);
  const size_t got = ZSTD_decompress(out.data(), out.size(), block.data(), block.size());
  if (ZSTD_isError(got) != 0) return DataLoss("it does not decompress: {}", ZSTD_getErrorName(got));
  if (got != out.size())
    return DataLoss("it decompresses to {} bytes, {} are wanted", got, out.size());
  return OkStatus();
}

}  // namespace stoker
