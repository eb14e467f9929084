// Credentials and endpoint for Google Cloud Storage, from the environment and the files that
// Google's own programs write.
//
// The first of these that exists:
// - GOOGLE_OAUTH_ACCESS_TOKEN, a token; CLOUDSDK_AUTH_ACCESS_TOKEN_FILE, a file with one, which is
//   read again when the store refuses it;
// - GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, an HMAC key;
// - GOOGLE_APPLICATION_CREDENTIALS, a file of a user's or service's credentials;
// - unless STORAGE_EMULATOR_HOST is set, application_default_credentials.json in CLOUDSDK_CONFIG or
//   ~/.config/gcloud;
// - the metadata server: at GCE_METADATA_HOST, else, unless NO_GCE_CHECK is true or
//   STORAGE_EMULATOR_HOST is set, at metadata.google.internal.
// Without any, requests to STORAGE_EMULATOR_HOST have no credentials; over plain HTTP they never
// have a token, except to a server on this machine.
#pragma once

#include <memory>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// The settings in the environment, read at each call.
struct GcsSettings {
  std::string token, token_file;
  std::string key_id, key_secret;  // of HMAC
  std::string credentials_file;    // named
  std::string default_file;        // gcloud's; need not exist
  std::string metadata_host;       // empty: do not ask it
  bool metadata_named = false;     // false: it is only tried, last
  std::string endpoint;            // "https://storage.googleapis.com", without a slash at its end
  bool emulator = false;

  bool uses_keys() const {
    return token.empty() && token_file.empty() && !key_id.empty() && !key_secret.empty();
  }
  bool operator==(const GcsSettings&) const = default;
};
GcsSettings FindGcsSettings();

// Sets the metadata server that is tried where the environment names none, HOST or HOST:PORT, so
// that tests have one of their own. Returns the one before. Thread-safe.
std::string SetUnnamedMetadataHost(std::string host);

// Errors: kInvalidArgument if the endpoint is not an address, or has a user in it.
Status CheckGcsEndpoint(const GcsSettings& settings);

// Returns whether tokens may go to the endpoint: by HTTPS, or to this machine.
bool SendsTokens(const GcsSettings& settings);

// The tokens of this process: fetched once for all threads, and again before they expire.
// Thread-safe.
class GcsTokens {
 public:
  static GcsTokens& Shared();

  // Returns the token to send; empty if none is to be sent (SendsTokens). Costs a request to the
  // token server if the known token is valid for less than four minutes. Errors: kPermissionDenied
  // if there are no credentials, or they are refused; kInvalidArgument for malformed files; those
  // of AskServer. Messages have no secret.
  Result<std::string> Get(const RemoteAccess& access);

  // Call after the store refused `token`, so that the next Get asks for another one. Returns
  // whether that may help: not if the same token was refused, and asked for again, before.
  bool Renew(const std::string& token);

 private:
  struct State;
  class Flight;
  GcsTokens();
  const std::shared_ptr<State> state_;
};

}  // namespace stoker
