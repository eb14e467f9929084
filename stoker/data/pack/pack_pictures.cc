#include "stoker/data/pack/pack_pictures.h"

#include <utility>

#include "stoker/data/options/registry.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/encode.h"
#include "stoker/data/transforms/resize.h"

namespace stoker {
namespace {

constexpr const char* kField = "image";

}  // namespace

Result<PackSource> Reencode(PackSource source, const PackPictures& pictures) {
  if (!pictures.resize && !pictures.quality) return source;
  STOKER_ASSIGN_OR_RETURN(const size_t index,
                          source.dataset.spec().IndexOf("--resize and --quality", kField));
  const Field& field = source.dataset.spec().fields[index];
  Result<Dataset> made = source.dataset;
  const bool encoded = field.dtype == DType::kUInt8 && field.shape.size() == 1;
  if (encoded) made = std::move(made) | Decode{.channels = "as_stored", .field = kField};
  if (pictures.resize) {
    made = std::move(made) |
           Resize{.shorter_side = *pictures.resize, .enlarge = false, .field = kField};
    source.settings += fmt::format(", resized to {}", *pictures.resize);
  }
  Encode encode{.field = kField};
  if (pictures.quality) encode.quality = *pictures.quality;
  made = std::move(made) | encode;
  if (!made.ok()) return made.status().While("making pictures smaller");
  source.dataset = *std::move(made);
  source.settings += fmt::format(", as JPEG of quality {}", encode.quality);
  return source;
}

}  // namespace stoker
