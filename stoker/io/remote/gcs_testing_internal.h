// A server on loopback that behaves like the JSON API of Google Cloud Storage.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker {

inline std::string WithSlashes(std::string text) {
  for (size_t at; (at = text.find("%2F")) != text.npos;) text.replace(at, 3, "/");
  return text;
}

// The objects of one bucket, "b", and the answers of a correct server.
class FakeBucket {
 public:
  void Put(const std::string& name, std::string content, int generation = 1) {
    const MutexLock lock(mutex_);
    objects_[name] = {std::move(content), generation};
  }
  // Names on a page of a list.
  int page_size = 1000;

  LoopbackAnswer Answer(const LoopbackRequest& request) const {
    const MutexLock lock(mutex_);
    const std::string list = "/storage/v1/b/b/o?", media = "/download/storage/v1/b/b/o/";
    if (request.target.starts_with(list)) return List(request.target);
    if (!request.target.starts_with(media)) return {.status = 400, .body = request.target};
    std::string name = request.target.substr(media.size());
    name = WithSlashes(name.substr(0, name.find('?')));
    const auto found = objects_.find(name);
    if (found == objects_.end()) return {.status = 404, .body = "No such object: b/" + name};
    const std::string generation = std::to_string(found->second.second);
    const std::string wanted = ParameterOf(request.target, "ifGenerationMatch");
    if (!wanted.empty() && wanted != generation)
      return {.status = 412, .body = "Precondition Failed"};
    // Tags of the JSON API are not in quotes and differ from Stoker's.
    LoopbackAnswer answer = ServeContent(request, found->second.first, "CJ" + generation);
    answer.headers.push_back("X-Goog-Generation: " + generation);
    return answer;
  }

 private:
  LoopbackAnswer List(const std::string& target) const STOKER_REQUIRES(mutex_) {
    const std::string prefix = WithSlashes(ParameterOf(target, "prefix"));
    const std::string from = WithSlashes(ParameterOf(target, "pageToken"));
    Json items = Json::array(), prefixes = Json::array();
    Json answer = Json::object();
    for (const auto& [name, object] : objects_) {
      if (!name.starts_with(prefix) || name < from) continue;
      const size_t slash = name.find('/', prefix.size());
      if (target.find("delimiter=%2F") != target.npos && slash != name.npos) {
        const std::string folder = name.substr(0, slash + 1);
        if (prefixes.empty() || prefixes.back() != folder) prefixes.push_back(folder);
        continue;
      }
      if (std::ssize(items) == page_size) {
        answer["nextPageToken"] = name;
        break;
      }
      items.push_back({{"name", name},
                       {"size", std::to_string(object.first.size())},
                       {"generation", std::to_string(object.second)}});
    }
    if (!items.empty()) answer["items"] = items;
    if (!prefixes.empty()) answer["prefixes"] = prefixes;
    return {.headers = {"Content-Type: application/json"}, .body = answer.dump()};
  }

  mutable Mutex mutex_;
  std::map<std::string, std::pair<std::string, int>> objects_ STOKER_GUARDED_BY(mutex_);
};

// A store that accepts one token at a time, and the server that gives tokens.
class TokenedStore {
 public:
  TokenedStore()
      : server_([this](const LoopbackRequest& request, int) { return Answer(request); }) {
    bucket.Put("a", "content", 3);
  }
  const LoopbackServer& server() const { return server_; }
  std::string issued() const {
    const MutexLock lock(mutex_);
    return "token-" + std::to_string(tokens_);
  }
  int tokens() const {
    const MutexLock lock(mutex_);
    return tokens_;
  }
  void Accept(std::string token) {
    const MutexLock lock(mutex_);
    accepted_ = std::move(token);
  }

  FakeBucket bucket;
  int64_t lifetime_s = 3600;
  bool refuses = false;                // to give tokens
  std::vector<LoopbackRequest> asked;  // for tokens

 private:
  LoopbackAnswer Answer(const LoopbackRequest& request) {
    const bool metadata = request.target.starts_with("/computeMetadata/");
    if (metadata || request.target == "/token") {
      const MutexLock lock(mutex_);
      asked.push_back(request);
      if (refuses)
        return {.status = 400,
                .body = R"({"error": "invalid_grant", "error_description": "Bad Request"})"};
      ++tokens_;
      accepted_ = "token-" + std::to_string(tokens_);
      return {.body = fmt::format(
                  R"({{"access_token": "{}", "expires_in": {}, "token_type": "Bearer"}})",
                  accepted_, lifetime_s)};
    }
    const auto authorization = request.headers.find("authorization");
    if (authorization != request.headers.end() && Accepts(authorization->second))
      return bucket.Answer(request);
    return {.status = 401, .body = "Invalid Credentials"};
  }
  bool Accepts(const std::string& authorization) const {
    const MutexLock lock(mutex_);
    return authorization == "Bearer " + accepted_;
  }

  mutable Mutex mutex_;
  int tokens_ STOKER_GUARDED_BY(mutex_) = 0;
  std::string accepted_ STOKER_GUARDED_BY(mutex_);
  const LoopbackServer server_;
};

inline std::string UserCredentials(const LoopbackServer& server) {
  return fmt::format(R"({{"type": "authorized_user", "client_id": "the id", "client_secret":
      "client-secret", "refresh_token": "the/refresh", "token_uri": "{}/token"}})",
                     server.root());
}

// Tests without a variable of Google's tools in the environment.
class GcsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", "GS_ACCESS_KEY_ID",
          "GS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG",
          "GCE_METADATA_HOST", "STORAGE_EMULATOR_HOST"})
      ::unsetenv(name);
    ::setenv("HOME", dir_.path().c_str(), 1);
    ::setenv("NO_GCE_CHECK", "true", 1);
  }
  void TearDown() override { SetUp(); }

  // Reads from there.
  static void Use(const LoopbackServer& server) {
    ::setenv("STORAGE_EMULATOR_HOST", server.root().c_str(), 1);
  }
  std::string Write(const char* name, std::string_view text) {
    const std::string path = (dir_.path() / name).string();
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
    return path;
  }
  static Result<std::string> ReadAll(const std::string& path) {
    STOKER_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
    std::string all(source->size_bound().bytes, '\0');
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            source->ReadFully(std::as_writable_bytes(std::span(all))));
    all.resize(got);
    return all;
  }
  const TempDir dir_;
};

}  // namespace stoker
