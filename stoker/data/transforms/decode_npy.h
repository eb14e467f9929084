#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The array of the bytes of a .npy file (formats/npy) in a field, uint8[-1]: members of archives
// that others have written, such as `.npy` of WebDataset. (What `stoker pack` writes is read as
// arrays by the sources.)
//
//   type   that the arrays have when they are read: uint16 is read as int32, uint32 and uint64 as
//          int64
//   shape  that they have; any extent may be -1. Required, since stages behind go by it: [] for
//          single values.
//
// Copies nothing if the values are used as they lie. What is no such file, or an array of
// another type or shape, is an error that names the sample, and the pass can go on behind it
// (on_error).
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
