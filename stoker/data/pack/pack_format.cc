#include "stoker/data/pack/pack_format.h"

#include <algorithm>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/pack/pack_sinks_internal.h"

namespace stoker {

std::span<const PackFormat> PackFormats() {
  static const PackFormat formats[] = {internal::kStokerPackFormat, internal::kTfRecordPackFormat,
                                       internal::kNpyPackFormat};
  return formats;
}

Result<const PackFormat*> FindPackFormat(std::string_view name) {
  const std::span<const PackFormat> formats = PackFormats();
  const auto found = std::ranges::find(formats, name, &PackFormat::name);
  if (found != formats.end()) return &*found;
  std::vector<std::string> names;
  for (const PackFormat& format : formats) names.emplace_back(format.name);
  return InvalidArgument("unknown format '{}'; {}", name, NameAdvice(name, names));
}

const PackFormat* PackFormatOfPath(std::string_view path) {
  for (const PackFormat& format : PackFormats()) {
    if (!format.extension.empty() && path.ends_with(format.extension)) return &format;
  }
  return nullptr;
}

}  // namespace stoker
