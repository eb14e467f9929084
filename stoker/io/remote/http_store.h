// A store that is read by GET, with the ranges and conditions of HTTP (RFC 9110), such as web
// servers and S3-compatible stores. A subclass defines how to make a request (HttpDialect), where a
// path is (Locate) and, if it has lists, how to ask for them and parse them.
#pragma once

#include <string>
#include <string_view>

#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

class HttpStore : public RemoteStore, public HttpDialect {
 public:
  // Costs one request. Reads the first bytes if the server says how many there are.
  Result<Found> Find(const RemoteAccess& access, size_t head_bytes) const override;
  // Costs one request if nothing breaks off; reads that version only (If-Match).
  Status ReadRange(const RemoteAccess& access, const RemoteVersion& version, uint64_t offset,
                   std::span<std::byte> out, const Progress& progress) const override;
  Status ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                   const TakeBytes& take) const override;
  // Costs a request for each page: a GET of the location without its key, with ListQuery, parsed by
  // ReadPage. A list that repeats a page, or has too few names for its pages, is an error.
  std::unique_ptr<RemoteList> List(const RemoteAccess& access,
                                   RemoteListRequest request) const override;

  struct Page : RemotePage {
    std::string continuation;  // for the next one; empty: this was the last
  };
  // Returns the query for names that begin with `prefix`; with `one_level`, only those without a
  // slash after it. Percent-encoded, parameters sorted by name as signatures require. Called only
  // if the store has lists.
  virtual std::string ListQuery(const std::string& prefix, bool one_level,
                                const std::string& continuation) const;
  // Parses the answer to ListQuery. Errors: kUnavailable, without the location's name.
  virtual Result<Page> ReadPage(std::string_view text) const;
};

}  // namespace stoker
