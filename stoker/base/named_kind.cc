#include "stoker/base/named_kind.h"

namespace stoker {

std::string_view NamedKind(const ConfigNode& entry) {
  if (entry.kind == ConfigNode::Kind::kScalar) return entry.scalar;
  for (const ConfigNode::Entry& key : entry.entries) {
    if (key.key != "on_error") return key.key;
  }
  return {};
}

}  // namespace stoker
