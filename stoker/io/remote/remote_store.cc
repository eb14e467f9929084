#include "stoker/io/remote/remote_store.h"

#include "stoker/base/remote_path.h"
#include "stoker/io/remote/remote_stores_internal.h"

namespace stoker {
bool RemoteVersion::Matches(const RemoteVersion& other) const {
  if (size && other.size && *size != *other.size) return false;
  if (!etag.empty() && !other.etag.empty()) return etag == other.etag;
  if (!last_modified.empty() && !other.last_modified.empty())
    return last_modified == other.last_modified;
  return !has_mark();  // one that was known by more than its size, and is not any more, may be any
}

std::string RemoteVersion::ToString() const {
  std::string text = size ? fmt::format("{} bytes", *size) : "an unknown size";
  if (!etag.empty()) return fmt::format("{} and the tag {}", text, etag);
  return last_modified.empty() ? text : fmt::format("{} of {}", text, last_modified);
}

const RemoteStore* FindRemoteStore(std::string_view path) {
  const std::string_view scheme = RemoteSchemeOf(path);
  for (const internal::RemoteStoreRow& row : internal::kRemoteStores) {
    if (row.scheme == scheme) return &row.store();
  }
  return nullptr;
}

}  // namespace stoker
