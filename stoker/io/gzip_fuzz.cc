// Any bytes decompress to what zlib makes of them, or are an error for both.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/io/fuzzing_internal.h"
#include "stoker/io/gzip.h"

namespace {

// One member by zlib; false where it finds an error or the output is too long.
bool ZlibInflate(const uint8_t* data, size_t size, std::string& out, size_t& used) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) std::abort();
  stream.next_in = const_cast<Bytef*>(data);
  stream.avail_in = static_cast<uInt>(size);
  out.resize(stoker::kMaxFuzzOutput);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = stoker::kMaxFuzzOutput;
  const int state = inflate(&stream, Z_FINISH);
  out.resize(stoker::kMaxFuzzOutput - stream.avail_out);
  used = size - stream.avail_in;
  inflateEnd(&stream);
  return state == Z_STREAM_END;
}

bool Decompress(const uint8_t* data, size_t size, size_t piece, std::string& out) {
  using namespace stoker;
  const auto source =
      MakeGzipSource(MakeMemorySource(std::as_bytes(std::span(data, size)), "input"));
  return ReadInPieces(*source, piece, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string small, large, expected;
  const bool small_ok = Decompress(data, size, 33, small);
  const bool large_ok = Decompress(data, size, 1 << 17, large);
  if (small_ok != large_ok || (small_ok && small != large)) std::abort();
  size_t used = 0;
  const bool zlib_ok = ZlibInflate(data, size, expected, used);
  if (large_ok && !zlib_ok && large.size() <= stoker::kMaxFuzzOutput && size > 0) std::abort();
  if (large_ok && zlib_ok && used == size && large != expected) std::abort();
  return 0;
}
