#include "stoker/io/remote/gcs_credentials.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/gcs_testing_internal.h"

namespace stoker::gcs_credentials_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

using Key = std::unique_ptr<EVP_PKEY, KeyFreer>;

// A file of a service's credentials, with this key.
std::string ServiceCredentials(const LoopbackServer& server, const Key& key) {
  BIO* const pem = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(pem, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(pem, &text);
  const std::string private_key(text, static_cast<size_t>(size));
  BIO_free(pem);
  return Json{{"type", "service_account"},
              {"client_email", "me@project.example"},
              {"private_key", private_key},
              {"private_key_id", "k1"},
              {"token_uri", server.root() + "/token"}}
      .dump();
}

// What a service posts for a token: "HEADER.CLAIMS.SIGNATURE".
std::string StatementOf(const LoopbackRequest& request) {
  const std::string before =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  EXPECT_TRUE(request.body.starts_with(before)) << request.body;
  return request.body.substr(before.size());
}

Json ClaimsOf(const std::string& statement) {
  const size_t first = statement.find('.'), second = statement.rfind('.');
  return Json::parse(Base64Decoded(statement.substr(first + 1, second - first - 1)));
}

TEST_F(GcsTest, AServicesStatementIsSignedByItsKey) {
  const Key key(EVP_RSA_gen(2048));
  TokenedStore store;
  Use(store.server());
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("service.json", ServiceCredentials(store.server(), key)).c_str(), 1);
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/a"), "content");
  ASSERT_EQ(store.asked.size(), 1u);
  const std::string statement = StatementOf(store.asked[0]);
  const size_t first = statement.find('.'), second = statement.rfind('.');
  const Json header = Json::parse(Base64Decoded(statement.substr(0, first)));
  EXPECT_EQ(header, Json({{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "k1"}}));
  const Json claims = ClaimsOf(statement);
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

TEST_F(GcsTest, AStatementIsSignedAgainByTheClockOfTheServerThatRefusesItsTime) {
  constexpr int64_t kNow = 4'000'000'000;  // there
  std::atomic<int> refused = 0;
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    const std::string date = "Date: Mon, 02 Oct 2096 07:06:40 GMT";
    const int64_t issued = ClaimsOf(StatementOf(request))["iat"].get<int64_t>();
    if (std::abs(issued - kNow) < 60) {
      return LoopbackAnswer{.headers = {date},
                            .body = R"({"access_token": "given", "expires_in": 3600})"};
    }
    ++refused;
    return LoopbackAnswer{
        .status = 400,
        .headers = {date},
        .body = R"({"error": "invalid_grant", "error_description": "Invalid JWT: Token must be a
                    short-lived token and in a reasonable timeframe."})"};
  });
  Use(server);
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("service.json", ServiceCredentials(server, Key(EVP_RSA_gen(2048)))).c_str(), 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation location, ParseRemotePath("gs://b/a"));
  const RemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string token,
                              GcsTokens::Shared().Get({location, options}));
  EXPECT_EQ(token, "given");
  EXPECT_EQ(refused, 1);
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

TEST_F(GcsTest, AWaitForATokenEndsWithItsThreadsStopAndNotWithTheTimeout) {
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
  const Status status = ReadAll("gs://b/sent-on").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "gs://b/sent-on: byte 0: HTTP 302: the server sends to another address, where "
            "credentials are not sent; check STORAGE_EMULATOR_HOST and the proxy");
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

}  // namespace stoker::gcs_credentials_test
