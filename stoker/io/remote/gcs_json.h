// The texts that reading from Google Cloud Storage takes: answers of its JSON API and of servers
// that give tokens, and files of credentials. All of them come from outside; what is not as Google
// describes it counts as not given, or is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_store.h"
#include "stoker/io/remote/remote_request.h"

namespace stoker {

// What an answer that is an error says: the JSON of the API ("notFound") or of OAuth
// ("invalid_grant"), the XML API's, or a short text.
StoreError ParseGcsError(std::string_view text);

// A page of objects.list. Tags are generations, in quotes as tags of HTTP are. Errors:
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
  std::string type;  // "authorized_user" or "service_account"; of the others nothing else is read
  std::string client_id, client_secret, refresh_token;    // of a user
  std::string client_email, private_key, private_key_id;  // of a service
  std::string token_uri;                                  // who gives tokens for them
};
// Errors: kInvalidArgument: no JSON, a key that is missing, an address that is not https:// (or
// http:// of this machine). The message has nothing secret.
Result<GcsCredentials> ParseGcsCredentials(std::string_view text);

// The form that is sent to token_uri for a token to read objects: of a service, with a statement
// that its key has signed (RFC 7523), made at `now`, seconds since 1970. A secret. Errors:
// kInvalidArgument where the private key is none.
Result<std::string> GcsTokenForm(const GcsCredentials& credentials, int64_t now);

}  // namespace stoker
