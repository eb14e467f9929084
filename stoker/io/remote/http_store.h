// A store that is read by GET, with the ranges and conditions of HTTP (RFC 9110): what web servers,
// S3 and its kin have in common. Such a store says how a request is made (HttpDialect), where a
// path is (Locate), and if it lists, how its lists read.
#pragma once

#include <string>
#include <string_view>

#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

class HttpStore : public RemoteStore, public HttpDialect {
 public:
  // One request. Reads the first bytes where the server says how many there are.
  Result<Found> Find(const RemoteAccess& access, size_t head_bytes) const override;
  // One request where nothing breaks off, of that version only (If-Match).
  Status ReadRange(const RemoteAccess& access, const RemoteVersion& version, uint64_t offset,
                   std::span<std::byte> out, const Progress& progress) const override;
  Status ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                   const TakeBytes& take) const override;
  // A request for each page: of the location without its key, with ListQuery, read by ReadPage. A
  // list that goes round in circles, or has too few names for its pages, is an error.
  std::unique_ptr<RemoteList> List(const RemoteAccess& access, std::string prefix,
                                   std::optional<int> slashes) const override;

  struct Page : RemotePage {
    std::string continuation;  // for the next one; empty: this was the last
  };
  // Asks for names that begin with `prefix`; with `one_level`, only those without a slash after it.
  // Percent-encoded, parameters in the order of their names, as signatures have them. By default
  // ListObjectsV2 of S3, which its kin understand.
  virtual std::string ListQuery(const std::string& prefix, bool one_level,
                                const std::string& continuation) const;
  // Errors: kUnavailable, without the location's name.
  virtual Result<Page> ReadPage(std::string_view text) const;
};

}  // namespace stoker
