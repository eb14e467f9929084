// Parsers for Google Cloud Storage: answers of its JSON API and of token servers, and files of
// credentials. All of them are untrusted; what differs from Google's description counts as missing,
// or is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_store.h"
#include "stoker/io/remote/remote_request.h"

namespace stoker {

// Returns the content of an error answer: the JSON of the API ("notFound") or of OAuth
// ("invalid_grant"), the XML API's, or a short text.
StoreError ParseGcsError(std::string_view text);

// Returns a page of objects.list. Tags are generations, in quotes like entity tags of HTTP. Errors:
// kUnavailable.
Result<HttpStore::Page> ParseGcsPage(std::string_view text);

struct GcsToken {
  std::string value;       // a secret; printable characters
  int64_t lifetime_s = 0;  // from now on
};
// Errors: kUnavailable; the message quotes no part of the text, which may hold a secret.
Result<GcsToken> ParseGcsToken(std::string_view text);

// A file of credentials, as `gcloud auth application-default login` and the console write it.
struct GcsCredentials {
  std::string type;  // "authorized_user" or "service_account"; of other types nothing else is read
  std::string client_id, client_secret, refresh_token;    // of a user
  std::string client_email, private_key, private_key_id;  // of a service
  std::string token_uri;                                  // the server of their tokens
};
// Errors: kInvalidArgument: no JSON, a key that is missing, an address that is not https:// (or
// http:// of this machine). The message has no secret.
Result<GcsCredentials> ParseGcsCredentials(std::string_view text);

// Returns the form to post to token_uri for a token to read objects; for a service with an
// assertion that its key signs (RFC 7523), issued at `now`, seconds since 1970. A secret. Errors:
// kInvalidArgument if the private key is malformed.
Result<std::string> GcsTokenForm(const GcsCredentials& credentials, int64_t now);

}  // namespace stoker
