// Text compressed by xz and bzip2. Only tests, benchmarks and fuzzers include it.
#pragma once

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Returns one .xz stream.
inline std::string XzCompress(std::string_view text, lzma_check check = LZMA_CHECK_CRC64,
                              uint32_t dictionary_bytes = 1 << 20) {
  lzma_options_lzma options;
  if (lzma_lzma_preset(&options, 6)) std::abort();
  options.dict_size = dictionary_bytes;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  if (lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), check, nullptr,
                                reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                reinterpret_cast<uint8_t*>(out.data()), &size,
                                out.size()) != LZMA_OK)
    std::abort();
  out.resize(size);
  return out;
}

// Returns one .bz2 stream.
inline std::string Bzip2Compress(std::string_view text, int level = 9) {
  std::string out(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(out.size());
  if (BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(text.data()),
                               static_cast<unsigned>(text.size()), level, 0, 0) != BZ_OK)
    std::abort();
  out.resize(size);
  return out;
}

// Lines of a log: words and numbers.
inline std::string LogText(size_t bytes) {
  uint32_t state = 1;
  std::string text;
  while (text.size() < bytes) {
    state = state * 1664525 + 1013904223;
    text += fmt::format("step {} loss 0.{}\n", state >> 20, state >> 12);
  }
  return text.substr(0, bytes);
}

using MakeDecoder = std::unique_ptr<ByteSource> (*)(std::unique_ptr<ByteSource>,
                                                    std::shared_ptr<MemoryAccount>);

// Returns what `make` decompresses `packed` to, read in pieces of `piece` bytes.
inline Result<std::string> Unpacked(MakeDecoder make, std::string_view packed, const char* name,
                                    size_t piece = 1 << 16,
                                    std::shared_ptr<MemoryAccount> account = nullptr) {
  const auto source =
      make(MakeMemorySource(std::as_bytes(std::span(packed)), name), std::move(account));
  std::string out, part(piece, '\0');
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            source->Read(std::as_writable_bytes(std::span(part))));
    if (got == 0) return out;
    out.append(part, 0, got);
  }
}

}  // namespace stoker
