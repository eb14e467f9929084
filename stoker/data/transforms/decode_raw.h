#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Interprets the bytes of a field, uint8[-1], as the values of an array in C order, such as
// `numpy.tobytes` writes, or values of LMDB databases, members of archives and records. Like
// tf.io.decode_raw.
//
//   type        of the values; larger unsigned ones (uint16, uint32, uint64) become the next wider
//               signed ones, which must hold them
//   shape       of the array; a first extent of -1 follows from the number of bytes
//   big_endian  most significant byte first
//
// Does not copy values that can be used in place. Bytes of another length are an error that names
// the sample; the pass can continue after it (on_error).
struct DecodeRaw {
  static constexpr std::string_view kName = "decode_raw";
  static constexpr std::string_view kHelp =
      "Makes an array of the bytes of its values, as LMDB and archives hold them.";
  static constexpr bool kArranges = false;
  std::string field = "value";
  std::string type = "uint8";
  std::vector<int64_t> shape = {-1};
  bool big_endian = false;

  static void Describe(OptionTable<DecodeRaw>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
