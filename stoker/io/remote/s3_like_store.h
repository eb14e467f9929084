// A store whose requests and answers are those of S3's REST API: Amazon's S3, stores that are
// compatible with it, and the XML API of Google Cloud Storage.
#pragma once

#include <string>
#include <string_view>

#include "stoker/io/remote/http_store.h"

namespace stoker {

// Sent with status 400 too.
inline constexpr std::string_view kExpiredToken = "ExpiredToken";

class S3LikeStore : public HttpStore {
 public:
  bool lists() const override { return true; }
  std::string_view container() const override { return "bucket"; }
  Result<RemoteLocation> Locate(const std::string& path) const override;

  // Parses S3's XML.
  StoreError ReadError(const HttpAnswer& answer) const override;
  bool IsPassing(const StoreError& error) const override;
  bool IsRefusal(const HttpAnswer& answer, const StoreError& error) const override;

  // ListObjectsV2.
  std::string ListQuery(const std::string& prefix, bool one_level,
                        const std::string& continuation) const override;
  Result<Page> ReadPage(std::string_view text) const override;
};

// Returns the refusal of an object: `advice` says what may be wrong with the credentials, unless
// the store was to be read without any.
Status RefusedObject(const RemoteAccess& access, const std::string& place, const std::string& text,
                     std::string_view advice);

}  // namespace stoker
