// Who asks Google Cloud Storage, and which server: from the environment and the files that Google's
// own programs write.
//
// The first that is there:
// - GOOGLE_OAUTH_ACCESS_TOKEN, a token; CLOUDSDK_AUTH_ACCESS_TOKEN_FILE, a file with one, which is
//   read again when the store refuses it;
// - GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, an HMAC key;
// - GOOGLE_APPLICATION_CREDENTIALS, a file of a user's or service's credentials;
// - unless STORAGE_EMULATOR_HOST is set, application_default_credentials.json in CLOUDSDK_CONFIG or
//   ~/.config/gcloud;
// - the metadata server: at GCE_METADATA_HOST, else, unless NO_GCE_CHECK is true or
//   STORAGE_EMULATOR_HOST is set, at metadata.google.internal.
// Without any, STORAGE_EMULATOR_HOST is asked without credentials.
#pragma once

#include <memory>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// What the environment says, read at each call.
struct GcsSettings {
  std::string token, token_file;
  std::string key_id, key_secret;  // of HMAC
  std::string credentials_file;    // named
  std::string default_file;        // the one of gcloud; may be not there
  std::string metadata_host;       // empty: not to be asked
  bool metadata_named = false;     // else it is only tried, as the last
  std::string endpoint;            // "https://storage.googleapis.com", without a slash at its end
  bool emulator = false;

  bool uses_keys() const {
    return token.empty() && token_file.empty() && !key_id.empty() && !key_secret.empty();
  }
  bool operator==(const GcsSettings&) const = default;
};
GcsSettings FindGcsSettings();

// kInvalidArgument where the endpoint is no address, or has a user in it.
Status CheckGcsEndpoint(const GcsSettings& settings);

// The tokens of this process: one is asked for once for all threads, and again before it expires.
// Thread-safe.
class GcsTokens {
 public:
  static GcsTokens& Shared();

  // The token to send; empty where none is to be sent. Costs a request to the server that gives
  // tokens where the one that is known holds for less than four minutes. Errors: kPermissionDenied
  // where there are no credentials, or those there are are refused; kInvalidArgument for files that
  // are none; those of AskServer. Messages have no secret.
  Result<std::string> Get(const RemoteAccess& access);

  // After the store refused `token`: whether another one can be had, which Get then gives.
  bool Renew(const std::string& token);

 private:
  struct State;
  GcsTokens();
  const std::shared_ptr<State> state_;
};

}  // namespace stoker
