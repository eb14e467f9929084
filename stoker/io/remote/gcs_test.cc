// Google Cloud Storage, by a server on loopback that does as its JSON API, and those that give
// tokens, do.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "stoker/base/json.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/gcs_credentials.h"
#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_names.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string WithSlashes(std::string text) {
  for (size_t at; (at = text.find("%2F")) != text.npos;) text.replace(at, 3, "/");
  return text;
}

std::string ParameterOf(const std::string& target, const std::string& name) {
  const size_t begin = target.find_first_of("?&", 0);
  if (begin == target.npos) return "";
  const std::string query = "&" + target.substr(begin + 1);
  const size_t at = query.find("&" + name + "=");
  if (at == query.npos) return "";
  const size_t value = at + name.size() + 2;
  return query.substr(value, query.find('&', value) - value);
}

// The objects of one bucket, "b", and what a proper server answers.
class FakeBucket {
 public:
  void Put(const std::string& name, std::string content, int generation = 1) {
    const std::lock_guard lock(mutex_);
    objects_[name] = {std::move(content), generation};
  }
  // Names of a page of a list.
  int page_size = 1000;

  LoopbackAnswer Answer(const LoopbackRequest& request) const {
    const std::lock_guard lock(mutex_);
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
    // Tags of the JSON API are not in quotes, and no tag of ours.
    LoopbackAnswer answer = ServeContent(request, found->second.first, "CJ" + generation);
    answer.headers.push_back("X-Goog-Generation: " + generation);
    return answer;
  }

 private:
  LoopbackAnswer List(const std::string& target) const {
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

  mutable std::mutex mutex_;
  std::map<std::string, std::pair<std::string, int>> objects_;
};

// A user who has nothing of Google's in the environment.
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

TEST_F(GcsTest, AFileIsReadByPositionAndInOrderInTheGenerationThatWasFound) {
  const std::string content = NumberedBytes(700'000);
  FakeBucket bucket;
  bucket.Put("t/a b%.bin", content, 17);
  std::mutex mutex;
  std::vector<std::string> conditions;
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackRequest decoded = request;
    EXPECT_THAT(request.target, HasSubstr("/o/t%2Fa%20b%25.bin?alt=media"));
    for (size_t at; (at = decoded.target.find("%20")) != std::string::npos;)
      decoded.target.replace(at, 3, " ");
    for (size_t at; (at = decoded.target.find("%25")) != std::string::npos;)
      decoded.target.replace(at, 3, "%");
    EXPECT_EQ(request.headers.at("accept-encoding"), "gzip");
    EXPECT_FALSE(request.headers.contains("if-match"));
    EXPECT_FALSE(request.headers.contains("authorization"));
    const std::lock_guard lock(mutex);
    if (number > 0) conditions.push_back(ParameterOf(request.target, "ifGenerationMatch"));
    return bucket.Answer(decoded);
  });
  Use(server);
  const ScopedRemoteOptions options;
  const std::string path = "gs://b/t/a b%.bin";
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(path));
  EXPECT_EQ(file.size(), content.size());
  std::string part(1000, '\0');
  STOKER_ASSERT_OK(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))));
  EXPECT_EQ(part, content.substr(500'000, 1000));
  EXPECT_TRUE(*ReadAll(path) == content);
  EXPECT_GE(conditions.size(), 2u);
  EXPECT_THAT(conditions, Each("17"));
}

TEST_F(GcsTest, ListsAreReadPageByPageAndTellTheVersions) {
  FakeBucket bucket;
  bucket.page_size = 2;
  for (const char* name : {"t/x1.tar", "t/x2.tar", "t/x3.tar", "t/y.tar", "t/x/deep.tar", "u"})
    bucket.Put(name, "12345");
  bucket.Put("t/f/", "");
  std::atomic<int> reads = 0;
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    reads += request.target.starts_with("/download/");
    return bucket.Answer(request);
  });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob("gs://b/t/x*.tar"));
  EXPECT_THAT(paths, ElementsAre("gs://b/t/x1.tar", "gs://b/t/x2.tar", "gs://b/t/x3.tar"));
  EXPECT_EQ(server.requests(), 2);  // with the delimiter, t/x/ is left out by the store
  STOKER_EXPECT_OK(CheckRemoteFiles(paths));
  EXPECT_EQ(reads, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto names, ListRemoteFolder("gs://b/t"));
  EXPECT_THAT(names, ElementsAre("f/", "x/deep.tar", "x1.tar", "x2.tar", "x3.tar", "y.tar"));
  EXPECT_THAT(ListRemoteFolder("gs://b/none"),
              FailsWith(StatusCode::kNotFound, "gs://b/none: no object is below it"));
}

TEST_F(GcsTest, AListWhosePagesRepeatATokenIsAnError) {
  const LoopbackServer server([](const LoopbackRequest&, int number) {
    if (number > 100) return LoopbackAnswer{.status = 404};  // so that the test ends
    return LoopbackAnswer{
        .body = fmt::format("{{\"nextPageToken\": \"again\", \"items\": [{{\"name\": \"k{}\", "
                            "\"size\": \"1\", \"generation\": \"1\"}}]}}",
                            number)};
  });
  Use(server);
  const ScopedRemoteOptions options;
  EXPECT_THAT(ExpandRemoteGlob("gs://b/k*"),
              FailsWith(StatusCode::kUnavailable, "it gives a continuation again"));
  EXPECT_LT(server.requests(), 10);
}

TEST_F(GcsTest, AFileThatChangesWhileItIsReadIsAnError) {
  FakeBucket bucket;
  bucket.Put("changing", NumberedBytes(700'000), 1);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return bucket.Answer(request); });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open("gs://b/changing"));
  bucket.Put("changing", NumberedBytes(700'000), 2);
  std::string part(1000, '\0');
  EXPECT_THAT(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))),
              FailsWith(StatusCode::kFailedPrecondition, "the file changed while it was read"));
}

TEST_F(GcsTest, ErrorsHaveTheStoresWords) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (request.target.find("/missing") != std::string::npos)
      return LoopbackAnswer{.status = 404, .body = "No such object: b/missing"};
    return LoopbackAnswer{
        .status = 403,
        .body = R"({"error": {"code": 403, "message": "No storage.objects.get access.",
                    "errors": [{"reason": "forbidden"}]}})"};
  });
  Use(server);
  const ScopedRemoteOptions options;
  EXPECT_THAT(OpenByteSource("gs://b/missing"),
              FailsWith(StatusCode::kNotFound,
                        "gs://b/missing: HTTP 404 (No such object: b/missing): no such file"));
  EXPECT_THAT(OpenByteSource("gs://b/mine"),
              FailsWith(StatusCode::kPermissionDenied,
                        "HTTP 403 forbidden (No storage.objects.get access.): these credentials"));
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(GcsTest, WhatPassesIsTriedAgainAndWhatBreaksOffGoesOn) {
  const std::string content = NumberedBytes(3'000'000);
  FakeBucket bucket;
  bucket.Put("broken", content, 5);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    if (number == 0) return LoopbackAnswer{.status = 503, .headers = {"Retry-After: 0"}};
    if (number == 1) return LoopbackAnswer{.status = 429};
    LoopbackAnswer answer = bucket.Answer(request);
    if (answer.body.size() > 100'000) answer.cut = 100'000;
    return answer;
  });
  Use(server);
  const ScopedRemoteOptions options;
  EXPECT_TRUE(*ReadAll("gs://b/broken") == content);
  EXPECT_EQ(server.sent(), content.size());  // nothing twice
}

TEST_F(GcsTest, APartThatIsNotTheOneAskedForIsAnError) {
  FakeBucket bucket;
  bucket.Put("wrong-part", NumberedBytes(700'000), 5);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = bucket.Answer(request);
    if (number > 0) answer.headers[1] = "Content-Range: bytes 600000-600999/700000";
    return answer;
  });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open("gs://b/wrong-part"));
  std::string part(1000, '\0');
  EXPECT_THAT(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))),
              FailsWith(StatusCode::kUnavailable, "begins at byte 600000"));
}

TEST_F(GcsTest, AReadThatWaitsForTheServerEndsWhereItsThreadIsToldToStop) {
  const LoopbackServer server(
      [](const LoopbackRequest&, int) { return LoopbackAnswer{.silent = true}; });
  Use(server);
  const ScopedRemoteOptions options({.timeout = 300});
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(
      [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50); });
  EXPECT_EQ(OpenByteSource("gs://b/stalled").status().code(), StatusCode::kCancelled);
  EXPECT_EQ(ExpandRemoteGlob("gs://b/x*").status().code(), StatusCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

// A store that takes one token at a time, and who gives them.
class TokenedStore {
 public:
  TokenedStore()
      : server_([this](const LoopbackRequest& request, int) { return Answer(request); }) {
    bucket.Put("a", "content", 3);
  }
  const LoopbackServer& server() const { return server_; }
  std::string issued() const {
    const std::lock_guard lock(mutex_);
    return "token-" + std::to_string(tokens_);
  }
  int tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }
  void Accept(std::string token) {
    const std::lock_guard lock(mutex_);
    accepted_ = std::move(token);
  }

  FakeBucket bucket;
  int64_t lifetime_s = 3600;
  bool refuses = false;                // to give tokens
  std::vector<LoopbackRequest> asked;  // for tokens

 private:
  LoopbackAnswer Answer(const LoopbackRequest& request) {
    std::unique_lock lock(mutex_);
    const bool metadata = request.target.starts_with("/computeMetadata/");
    if (metadata || request.target == "/token") {
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
    const bool right =
        authorization != request.headers.end() && authorization->second == "Bearer " + accepted_;
    lock.unlock();
    if (right) return bucket.Answer(request);
    return {.status = 401, .body = "Invalid Credentials"};
  }

  mutable std::mutex mutex_;
  int tokens_ = 0;
  std::string accepted_;
  const LoopbackServer server_;
};

std::string UserCredentials(const LoopbackServer& server) {
  return fmt::format(R"({{"type": "authorized_user", "client_id": "the id", "client_secret":
      "client-secret", "refresh_token": "the/refresh", "token_uri": "{}/token"}})",
                     server.root());
}

TEST_F(GcsTest, ATokenComesFromTheEnvironmentBeforeFiles) {
  TokenedStore store;
  store.Accept("given");
  Use(store.server());
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "given", 1);
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("user.json", UserCredentials(store.server())).c_str(), 1);
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/a"), "content");
  EXPECT_EQ(store.tokens(), 0);
}

TEST_F(GcsTest, ATokenThatIsRefusedIsReadAgainFromItsFile) {
  TokenedStore store;
  store.Accept("new");
  Use(store.server());
  const std::string path = Write("token", "old\n");
  ::setenv("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", path.c_str(), 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation location, ParseRemotePath("gs://b/a"));
  const RemoteOptions settings;
  EXPECT_EQ(*GcsTokens::Shared().Get({location, settings}), "old");
  Write("token", "new\n");
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/a"), "content");
  EXPECT_EQ(store.server().requests(), 2);
}

TEST_F(GcsTest, AUsersCredentialsAreExchangedForATokenOnceForAllThreads) {
  TokenedStore store;
  Use(store.server());
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("user.json", UserCredentials(store.server())).c_str(), 1);
  const ScopedRemoteOptions options;
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto read = ReadAll("gs://b/a");
      good += read.ok() && *read == "content";
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  ASSERT_EQ(store.tokens(), 1);
  EXPECT_EQ(store.asked[0].body,
            "grant_type=refresh_token&client_id=the%20id&client_secret=client-secret&"
            "refresh_token=the%2Frefresh");
}

TEST_F(GcsTest, ATokenIsRenewedBeforeItExpires) {
  TokenedStore store;
  store.lifetime_s = 2;
  Use(store.server());
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("user.json", UserCredentials(store.server())).c_str(), 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation location, ParseRemotePath("gs://b/a"));
  const RemoteOptions options;
  GcsTokens& tokens = GcsTokens::Shared();
  EXPECT_EQ(*tokens.Get({location, options}), "token-1");
  EXPECT_EQ(*tokens.Get({location, options}), "token-1");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // half of its life
  EXPECT_EQ(*tokens.Get({location, options}), "token-2");
}

TEST_F(GcsTest, ATokenThatTheStoreRefusesIsRenewedOnceAndThenAnError) {
  TokenedStore store;
  Use(store.server());
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("user.json", UserCredentials(store.server())).c_str(), 1);
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/a"), "content");
  store.Accept("another");  // the one that was given is refused from now on
  store.bucket.Put("c", "more");
  EXPECT_EQ(*ReadAll("gs://b/c"), "more");
  EXPECT_EQ(store.tokens(), 2);
  const LoopbackServer refusing([](const LoopbackRequest& request, int) {
    if (request.target == "/token")
      return LoopbackAnswer{.body = R"({"access_token": "secret-token", "expires_in": 3600})"};
    return LoopbackAnswer{.status = 401, .body = "Invalid Credentials"};
  });
  Use(refusing);
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS", Write("other.json", UserCredentials(refusing)).c_str(),
           1);
  const Status status = ReadAll("gs://b/d").status();
  EXPECT_THAT(status, FailsWith(StatusCode::kPermissionDenied,
                                "HTTP 401 (Invalid Credentials): these credentials may not"));
  EXPECT_THAT(status.message(), Not(HasSubstr("secret")));
  EXPECT_EQ(refusing.requests(), 4);  // a token and a refusal, twice
}

TEST_F(GcsTest, CredentialsThatAreRefusedAreNamedWithoutTheirSecrets) {
  TokenedStore store;
  store.refuses = true;
  Use(store.server());
  const std::string path = Write("user.json", UserCredentials(store.server()));
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS", path.c_str(), 1);
  const ScopedRemoteOptions options;
  const Status status = ReadAll("gs://b/a").status();
  EXPECT_THAT(status, FailsWith(StatusCode::kPermissionDenied, "gs://b/a: "));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("HTTP 400 invalid_grant (Bad Request)"),
                                      HasSubstr(path), Not(HasSubstr("client-secret")),
                                      Not(HasSubstr("refresh")), HasSubstr("gcloud auth")));
}

struct KeyFreer {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

std::string Base64Decoded(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string out(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(std::max(size, 0)) - padding);
  return out;
}

TEST_F(GcsTest, AServicesStatementIsSignedByItsKey) {
  const std::unique_ptr<EVP_PKEY, KeyFreer> key(EVP_RSA_gen(2048));
  BIO* const pem = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(pem, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(pem, &text);
  const std::string private_key(text, static_cast<size_t>(size));
  BIO_free(pem);
  TokenedStore store;
  Use(store.server());
  const Json credentials = {{"type", "service_account"},
                            {"client_email", "me@project.example"},
                            {"private_key", private_key},
                            {"private_key_id", "k1"},
                            {"token_uri", store.server().root() + "/token"}};
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS", Write("service.json", credentials.dump()).c_str(), 1);
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/a"), "content");
  ASSERT_EQ(store.asked.size(), 1u);
  const std::string before =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(store.asked[0].body.starts_with(before)) << store.asked[0].body;
  const std::string statement = store.asked[0].body.substr(before.size());
  const size_t first = statement.find('.'), second = statement.rfind('.');
  const Json header = Json::parse(Base64Decoded(statement.substr(0, first)));
  EXPECT_EQ(header, Json({{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "k1"}}));
  const Json claims = Json::parse(Base64Decoded(statement.substr(first + 1, second - first - 1)));
  EXPECT_EQ(claims["iss"], "me@project.example");
  EXPECT_EQ(claims["aud"], store.server().root() + "/token");
  EXPECT_EQ(claims["exp"].get<int64_t>() - claims["iat"].get<int64_t>(), 3600);
  const std::string signature = Base64Decoded(statement.substr(second + 1));
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key.get());
  EXPECT_EQ(EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                             signature.size(),
                             reinterpret_cast<const unsigned char*>(statement.data()), second),
            1);
  EVP_MD_CTX_free(context);
}

TEST_F(GcsTest, TheMetadataServerGivesTokensWithoutAFile) {
  TokenedStore store;
  Use(store.server());
  ::setenv("GCE_METADATA_HOST", store.server().root().substr(7).c_str(), 1);
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/a"), "content");
  ASSERT_EQ(store.asked.size(), 1u);
  EXPECT_EQ(store.asked[0].headers.at("metadata-flavor"), "Google");
  EXPECT_EQ(store.asked[0].method, "GET");
}

TEST_F(GcsTest, AWaitForATokenEndsWhereItsThreadIsToldToStop) {
  const LoopbackServer server(
      [](const LoopbackRequest&, int) { return LoopbackAnswer{.silent = true}; });
  Use(server);
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS", Write("user.json", UserCredentials(server)).c_str(),
           1);
  const ScopedRemoteOptions options({.timeout = 300});
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;  // one asks, the others wait for it
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const StopScope scope(
          [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50); });
      cancelled += OpenByteSource("gs://b/e").status().code() == StatusCode::kCancelled;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cancelled, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(GcsTest, ATokenGoesToTheStoreAloneAndNotWhereThatSends) {
  const LoopbackServer other(
      [](const LoopbackRequest&, int) { return LoopbackAnswer{.body = "stolen"}; });
  const LoopbackServer server([&](const LoopbackRequest&, int) {
    return LoopbackAnswer{.status = 302, .headers = {"Location: " + other.root() + "/x"}};
  });
  Use(server);
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "given", 1);
  const ScopedRemoteOptions options;
  EXPECT_THAT(ReadAll("gs://b/sent-on"),
              FailsWith(StatusCode::kFailedPrecondition, "gs://b/sent-on: byte 0: HTTP 302"));
  EXPECT_EQ(other.requests(), 0);
}

TEST_F(GcsTest, WhatIsPublicIsReadWithoutCredentials) {
  FakeBucket bucket;
  bucket.Put("public", "content");
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    EXPECT_FALSE(request.headers.contains("authorization"));
    return bucket.Answer(request);
  });
  Use(server);
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "given", 1);
  const ScopedRemoteOptions options({.anonymous = true});
  EXPECT_EQ(*ReadAll("gs://b/public"), "content");
}

TEST_F(GcsTest, WithoutCredentialsTheErrorSaysWhereWasLooked) {
  const ScopedRemoteOptions options({.retries = 0});
  EXPECT_THAT(
      ReadAll("gs://b/nobody").status().message(),
      AllOf(HasSubstr("gs://b/nobody: no credentials"), HasSubstr("GOOGLE_OAUTH_ACCESS_TOKEN"),
            HasSubstr((dir_.path() / ".config/gcloud").string()), HasSubstr("anonymous: true")));
}

TEST_F(GcsTest, AnHmacKeySignsRequestsToTheXmlApi) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    EXPECT_THAT(request.headers.at("authorization"),
                AllOf(HasSubstr("AWS4-HMAC-SHA256 Credential=GOOG1E/"),
                      HasSubstr("/auto/s3/aws4_request"), Not(HasSubstr("hmac-secret"))));
    if (request.target.starts_with("/b?")) {
      return LoopbackAnswer{
          .body =
              "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>t/x1</Key>"
              "<Generation>5</Generation><Size>7</Size><ETag>\"v1\"</ETag></Contents>"
              "</ListBucketResult>"};
    }
    EXPECT_EQ(request.target, "/b/t/x1");
    EXPECT_EQ(request.headers.at("accept-encoding"), "gzip");
    return ServeContent(request, "content");
  });
  Use(server);
  ::setenv("GS_ACCESS_KEY_ID", "GOOG1E", 1);
  ::setenv("GS_SECRET_ACCESS_KEY", "hmac-secret", 1);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob("gs://b/t/x*"));
  EXPECT_THAT(paths, ElementsAre("gs://b/t/x1"));
  EXPECT_EQ(*ReadAll("gs://b/t/x1"), "content");
}

TEST(GcsJson, ErrorsAreReadInEachOfTheirForms) {
  struct Case {
    const char *text, *code, *message;
  };
  for (const Case& one :
       {Case{R"({"error": {"errors": [{"reason": "notFound"}], "message": "m"}})", "notFound", "m"},
        Case{R"({"error": {"status": "UNAVAILABLE", "message": "m"}})", "UNAVAILABLE", "m"},
        Case{R"({"error": "invalid_grant", "error_description": "d"})", "invalid_grant", "d"},
        Case{"<Error><Code>NoSuchKey</Code><Message>m</Message></Error>", "NoSuchKey", "m"},
        Case{"Not Found\n", "", "Not Found"}, Case{"", "", ""}, Case{"{\"error\": 3}", "", ""},
        Case{"[1]", "", ""}, Case{"a\033[31m", "", ""},
        Case{R"({"error": {"errors": [7]}})", "", ""}}) {
    EXPECT_EQ(ParseGcsError(one.text).code, one.code) << one.text;
    EXPECT_EQ(ParseGcsError(one.text).message, one.message) << one.text;
  }
}

TEST(GcsJson, PagesAndTokensThatAreNoneAreErrors) {
  for (const char* text :
       {"", "[]", "{\"items\": 3}", "{\"items\": [3]}", "{\"items\": [{\"name\": \"a\"}]}",
        R"({"items": [{"name": "a", "size": "-1", "generation": "1"}]})",
        R"({"items": [{"name": "", "size": "1", "generation": "1"}]})", "{\"prefixes\": 1}"})
    EXPECT_THAT(ParseGcsPage(text), FailsWith(StatusCode::kUnavailable, "list of objects")) << text;
  EXPECT_TRUE(ParseGcsPage("{}")->objects.empty());
  for (const char* text : {"", "{}", "{\"access_token\": 3}", "{\"access_token\": \"a\\nb\"}"})
    EXPECT_THAT(ParseGcsToken(text), FailsWith(StatusCode::kUnavailable, "no token")) << text;
  EXPECT_EQ(ParseGcsToken(R"({"access_token": "a", "expires_in": 1e300})")->lifetime_s, 86400);
}

TEST(GcsJson, CredentialsThatAreNoneSayWhy) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "no file of credentials"},
      {"{}", "no file of credentials"},
      {R"({"type": "authorized_user", "client_id": "i"})", "has no \"client_secret\""},
      {R"({"type": "service_account", "client_email": "e"})", "has no \"private_key\""},
      {R"({"type": "external_account"})", "gcloud auth print-access-token"},
      {R"({"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
           "token_uri": "http://evil.example/token"})",
       "not https://"}};
  for (const auto& [text, says] : kCases)
    EXPECT_THAT(ParseGcsCredentials(text), FailsWith(StatusCode::kInvalidArgument, says)) << text;
  EXPECT_THAT(GcsTokenForm({.type = "service_account", .private_key = "no key"}, 0),
              FailsWith(StatusCode::kInvalidArgument, "no RSA key"));
}

}  // namespace
}  // namespace stoker
