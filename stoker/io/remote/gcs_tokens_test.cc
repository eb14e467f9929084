// Tokens for Google Cloud Storage: what is wrong with them is told apart from missing files, they
// are renewed as often as they run out, and they are sent to nobody else.
#include <chrono>
#include <cstdlib>
#include <new>

#include "stoker/base/testing.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/gcs_credentials.h"
#include "stoker/io/remote/gcs_testing_internal.h"

namespace stoker::gcs_tokens_test {

std::string HostOf(const LoopbackServer& server) {
  return server.root().substr(std::string("http://").size());
}

class GcsTokensTest : public GcsTest {
 protected:
  Result<std::string> Get(Cancellation* cancel = nullptr) const {
    return GcsTokens::Shared().Get({location_, options_, cancel});
  }

  const RemoteLocation location_ = *ParseRemotePath("gs://b/a");
  const RemoteOptions options_{.timeout = 1};
};

TEST_F(GcsTokensTest, ATokenFileIsReadAgainWheneverItsTokenIsRefused) {
  TokenedStore store;
  Use(store.server());
  const std::string path = Write("token", "T1\n");
  ::setenv("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", path.c_str(), 1);
  const ScopedRemoteOptions options;
  for (const char* token : {"T1", "T2", "T3", "T4"}) {
    Write("token", token);
    store.Accept(token);
    store.bucket.Put(token, "content");
    EXPECT_EQ(*ReadAll(std::string("gs://b/") + token), "content") << token;
  }
  // One that is refused and stays in the file is an error, until another one is there.
  store.Accept("T5");
  store.bucket.Put("T5", "content");
  EXPECT_THAT(ReadAll("gs://b/T5"), FailsWith(StatusCode::kPermissionDenied, "HTTP 401"));
  Write("token", "T5");
  EXPECT_EQ(*ReadAll("gs://b/T5"), "content");
}

TEST_F(GcsTokensTest, CredentialsThatAreMissingOrMalformedSayNothingAboutTheFilesOfTheStore) {
  TokenedStore store;
  Use(store.server());
  const ScopedRemoteOptions options;
  for (const char* variable :
       {"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", "GOOGLE_APPLICATION_CREDENTIALS"}) {
    SetUp();
    Use(store.server());
    const std::string path = dir_ / variable;
    ::setenv(variable, path.c_str(), 1);
    EXPECT_THAT(
        ReadAll("gs://b/a"),
        FailsWith(StatusCode::kFailedPrecondition,
                  fmt::format("gs://b/a: while reading {}: {}: no such file", variable, path)));
    Write(variable, "");
    EXPECT_THAT(ReadAll("gs://b/a"),
                FailsWith(StatusCode::kFailedPrecondition, variable + std::string(": ") + path));
  }
  EXPECT_EQ(store.server().requests(), 0);
  Use(store.server());
  ::setenv("STORAGE_EMULATOR_HOST", "http://me@127.0.0.1:1", 1);
  EXPECT_THAT(ReadAll("gs://b/a"), FailsWith(StatusCode::kFailedPrecondition, "has a user"));
}

TEST_F(GcsTokensTest, ARequestThatThrowsLeavesNobodyWaiting) {
  TokenedStore store;
  Use(store.server());
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS",
           Write("user.json", UserCredentials(store.server())).c_str(), 1);
  Cancellation without_memory([]() -> bool { throw std::bad_alloc(); });
  EXPECT_THROW((void)Get(&without_memory), std::bad_alloc);
  // Ends the test where it fails, for the wait would not end.
  const auto begin = std::chrono::steady_clock::now();
  Cancellation late(
      [begin] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(30); });
  const Result<std::string> token = Get(&late);
  ASSERT_TRUE(token.ok()) << token.status().message();
  EXPECT_EQ(*token, store.issued());
}

TEST_F(GcsTokensTest, ATokenGoesOverPlainHttpToThisMachineAlone) {
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "secret", 1);
  for (const char* host : {"https://storage.example", "http://127.0.0.1:9", "localhost:9",
                           "http://[::1]:9", "http://127.1.2.3"}) {
    ::setenv("STORAGE_EMULATOR_HOST", host, 1);
    EXPECT_EQ(*Get(), "secret") << host;
  }
  for (const char* host :
       {"http://storage.example", "storage.example:80", "http://127.0.0.1.example",
        "http://localhost.example:9", "http://10.0.0.1:9", "http://127.0.0.1x"}) {
    ::setenv("STORAGE_EMULATOR_HOST", host, 1);
    EXPECT_EQ(*Get(), "") << host;
  }
}

TEST_F(GcsTokensTest, WithoutAFileTheServerOfTheMachineIsTriedAndNotWaitedFor) {
  ::unsetenv("NO_GCE_CHECK");
  TokenedStore store;
  const std::string before = SetUnnamedMetadataHost(HostOf(store.server()));
  EXPECT_EQ(*Get(), "token-1");
  EXPECT_EQ(store.asked.at(0).headers.at("metadata-flavor"), "Google");
  // Where nobody listens, or nobody answers, this machine is none of Google's.
  SetUnnamedMetadataHost("127.0.0.1:1");
  EXPECT_THAT(Get(), FailsWith(StatusCode::kPermissionDenied, "no credentials for Google"));
  const LoopbackServer silent(
      [](const LoopbackRequest&, int) { return LoopbackAnswer{.silent = true}; });
  SetUnnamedMetadataHost(HostOf(silent));
  EXPECT_THAT(Get(), FailsWith(StatusCode::kPermissionDenied, "no credentials for Google"));
  EXPECT_EQ(silent.requests(), 1);
  // Where Google's own programs are told that there is none, it is not asked.
  SetUnnamedMetadataHost(HostOf(store.server()));
  ::setenv("NO_GCE_CHECK", "true", 1);
  EXPECT_THAT(Get(), FailsWith(StatusCode::kPermissionDenied, "no credentials for Google"));
  EXPECT_EQ(store.tokens(), 1);
  SetUnnamedMetadataHost(before);
}

}  // namespace stoker::gcs_tokens_test
