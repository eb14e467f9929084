#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Encodes pictures as bytes of files, the inverse of `decode`: uint8[C, H, W] with 1 or 3 channels
// becomes uint8[-1], a JPEG or PNG (image/encode.h). For packing smaller pictures (`stoker pack`),
// and for JPEG artefacts as an augmentation: `encode: {quality: 30}`, then `decode`.
struct Encode {
  static constexpr std::string_view kName = "encode";
  static constexpr std::string_view kHelp = "Encodes pictures as JPEG or PNG files.";
  static constexpr bool kArranges = false;
  std::string format = "jpeg";
  int64_t quality = 90;
  std::string subsampling = "420";
  std::string field = "image";

  static void Describe(OptionTable<Encode>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
