// Any bytes decompress to what zlib makes of them, or are an error for both.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/io/fuzzing_internal.h"
#include "stoker/io/gzip.h"

namespace {

// One member by zlib; false if it finds an error or the output is too long.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string large, expected;
  const bool whole =
      stoker::DecompressesAlikeInAnyPieces(stoker::MakeGzipSource, data, size, large);
  size_t used = 0;
  const bool zlib_ok = ZlibInflate(data, size, expected, used);
  if (whole && !zlib_ok && large.size() <= stoker::kMaxFuzzOutput && size > 0) std::abort();
  if (whole && zlib_ok && used == size && large != expected) std::abort();
  return 0;
}
