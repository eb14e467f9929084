#include "stoker/io/remote/s3_like_store.h"

#include <utility>

#include "stoker/io/remote/s3_xml.h"

namespace stoker {

Result<RemoteLocation> S3LikeStore::Locate(const std::string& path) const {
  return ParseBucketPath(*this, path);
}

StoreError S3LikeStore::ReadError(const HttpAnswer& answer) const {
  S3Error error = ParseS3Error(answer.text);
  return {std::move(error.code), std::move(error.message)};
}

bool S3LikeStore::IsPassing(const StoreError& error) const {
  return error.code == "RequestTimeout" || error.code == "SlowDown" ||
         error.code == "InternalError";
}

bool S3LikeStore::IsRefusal(const HttpAnswer& answer, const StoreError& error) const {
  return HttpStore::IsRefusal(answer, error) || error.code == kExpiredToken;
}

// Without encoding-type=url a key could not hold every character in XML.
std::string S3LikeStore::ListQuery(const std::string& prefix, bool one_level,
                                   const std::string& continuation) const {
  std::string query;
  if (!continuation.empty())
    query += fmt::format("continuation-token={}&", PercentEncode(continuation, false));
  if (one_level) query += "delimiter=%2F&";
  query += fmt::format("encoding-type=url&list-type=2&prefix={}", PercentEncode(prefix, false));
  return query;
}

Result<HttpStore::Page> S3LikeStore::ReadPage(std::string_view text) const {
  STOKER_ASSIGN_OR_RETURN(S3List list, ParseS3List(text));
  return Page{{std::move(list.objects), list.folders}, std::move(list.continuation)};
}

Status RefusedObject(const RemoteAccess& access, const std::string& place, const std::string& text,
                     std::string_view advice) {
  if (access.options.anonymous) {
    return PermissionDenied(
        "{}: {}: nobody may read it without credentials; leave anonymous: true out (data.remote)",
        place, text);
  }
  return PermissionDenied("{}: {}: {}", place, text, advice);
}

}  // namespace stoker
