#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Decodes a field with the bytes of a .npy file (formats/npy), uint8[-1], to its array. For members
// of archives of other programs, such as `.npy` of WebDataset. (Sources decode archives of `stoker
// pack` themselves.)
//
//   type   of the arrays after reading: uint16 is read as int32, uint32 and uint64 as int64
//   shape  of the arrays; any extent may be -1. Required, because later stages need it: [] for
//          single values.
//
// Does not copy values that can be used in place. Anything but such a file, or an array of another
// type or shape, is an error that names the sample; the pass can continue after it (on_error).
struct DecodeNpy {
  static constexpr std::string_view kName = "decode_npy";
  static constexpr std::string_view kHelp = "Makes an array of the bytes of a .npy file.";
  static constexpr bool kArranges = false;
  std::string field = "npy";
  std::string type = "float32";
  std::vector<int64_t> shape;

  static void Describe(OptionTable<DecodeNpy>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
