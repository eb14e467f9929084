#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Takes the bytes of a field, uint8[-1], for the values of an array as they lie in memory, in C
// order: what `numpy.tobytes` writes, and values of LMDB databases, members of archives and records
// often are. As tf.io.decode_raw.
//
//   type        of the values; larger unsigned ones (uint16, uint32, uint64) become the next wider
//               signed ones, which must hold them
//   shape       of the array; a first extent of -1 is as long as the bytes last
//   big_endian  most significant byte first
//
// Copies nothing if the values are used as they lie and lie where they may. Bytes of another
// length are an error that names the sample, and the pass can go on behind it (on_error).
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
