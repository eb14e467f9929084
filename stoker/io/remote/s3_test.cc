#include "stoker/io/remote/s3.h"

#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/aws_settings.h"
#include "stoker/io/remote/remote_names.h"
#include "stoker/io/remote/s3_testing_internal.h"

namespace stoker::s3_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(S3Test, CredentialsComeFromTheEnvironmentThenFromTheFiles) {
  Write("config", "[default]\naws_access_key_id = C\naws_secret_access_key = c\n");
  EXPECT_EQ(FindAwsCredentials({})->access_key_id, "C");
  Write("credentials",
        "[default]\naws_access_key_id = F\naws_secret_access_key = f\naws_session_token = t\n"
        "[other]\naws_access_key_id = O\naws_secret_access_key = o\n");
  EXPECT_EQ(FindAwsCredentials({})->access_key_id, "F");
  EXPECT_EQ(FindAwsCredentials({})->session_token, "t");
  EXPECT_EQ(FindAwsCredentials({.profile = "other"})->access_key_id, "O");
  ::setenv("AWS_PROFILE", "other", 1);
  EXPECT_EQ(FindAwsCredentials({})->access_key_id, "O");
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
  EXPECT_EQ(FindAwsCredentials({})->access_key_id, "E");
  EXPECT_EQ(FindAwsCredentials({.profile = "default"})->access_key_id, "F");
}

TEST_F(S3Test, CredentialsThatAreMissingSayWhereWasLooked) {
  EXPECT_THAT(
      FindAwsCredentials({}).status().message(),
      AllOf(HasSubstr("AWS_ACCESS_KEY_ID"), HasSubstr("profile 'default'"),
            HasSubstr((dir_.path() / ".aws/credentials").string()), HasSubstr("anonymous: true")));
  Write("config", "[default]\nsso_session = s\n");
  EXPECT_THAT(FindAwsCredentials({}).status().message(), HasSubstr("export-credentials"));
}

TEST_F(S3Test, TheEndpointAndRegionAreFoundLikewise) {
  Write("config", "[default]\nregion = eu-west-1\ns3 =\n  endpoint_url = http://nested\n");
  EXPECT_EQ(FindAwsPlace({}).region, "eu-west-1");
  EXPECT_EQ(FindAwsPlace({}).endpoint, "http://nested");
  ::setenv("AWS_ENDPOINT_URL", "http://variable", 1);
  ::setenv("AWS_DEFAULT_REGION", "us-west-2", 1);
  EXPECT_EQ(FindAwsPlace({}).endpoint, "http://variable");
  EXPECT_EQ(FindAwsPlace({}).region, "us-west-2");
  EXPECT_EQ(FindAwsPlace({.endpoint = "http://given", .region = "r"}).endpoint, "http://given");
}

TEST_F(S3Test, BucketsAreInTheHostsNameOrInThePath) {
  const RemoteOptions amazon{.region = "eu-central-1", .anonymous = true};
  EXPECT_EQ(UrlOf("s3://bucket/a b/c", amazon),
            "https://bucket.s3.eu-central-1.amazonaws.com/a%20b/c");
  EXPECT_EQ(UrlOf("s3://my.bucket/a", amazon), "https://s3.eu-central-1.amazonaws.com/my.bucket/a");
  RemoteOptions own{.endpoint = "http://host:9000/base/", .region = "r", .anonymous = true};
  EXPECT_EQ(UrlOf("s3://bucket/a", own), "http://host:9000/base/bucket/a");
  own.path_style = "false";
  EXPECT_EQ(UrlOf("s3://bucket/a", own), "http://bucket.host:9000/base/a");
  own.endpoint = "host:9000";
  EXPECT_THAT(UrlOf("s3://bucket/a", own), HasSubstr("'host:9000' is no address"));
}

TEST_F(S3Test, RequestsAreSignedWithTheTokenAndTheHostAsSent) {
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "the-secret", 1);
  ::setenv("AWS_SESSION_TOKEN", "token", 1);
  RemoteOptions options = Fresh({.endpoint = "https://host:443"});
  STOKER_ASSERT_OK_AND_ASSIGN(
      const StoreRequest request,
      S3Stores::Shared().MakeRequest(*ParseRemotePath("s3://bucket/a"), "", options));
  EXPECT_FALSE(request.http.follow_redirects);
  EXPECT_THAT(request.http.headers,
              ElementsAre("Host: host", StartsWith("x-amz-content-sha256: e3b0c442"),
                          StartsWith("x-amz-date: 2"), "x-amz-security-token: token",
                          AllOf(HasSubstr("SignedHeaders=host;x-amz-content-sha256;x-amz-date;"
                                          "x-amz-security-token"),
                                Not(HasSubstr("the-secret")))));
  options.anonymous = true;
  EXPECT_THAT(
      S3Stores::Shared().MakeRequest(*ParseRemotePath("s3://bucket/a"), "", options)->http.headers,
      ElementsAre("Host: host"));
}

TEST_F(S3Test, ErrorsHaveTheStoresWords) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (request.target == "/b/missing")
      return LoopbackAnswer{.status = 404,
                            .body =
                                "<Error><Code>NoSuchKey</Code><Message>The "
                                "key is not there.</Message></Error>"};
    return LoopbackAnswer{.status = 403,
                          .body =
                              "<Error><Code>AccessDenied</Code><Message>Access "
                              "Denied</Message></Error>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  EXPECT_THAT(
      OpenByteSource("s3://b/missing"),
      FailsWith(StatusCode::kNotFound,
                "s3://b/missing: HTTP 404 NoSuchKey (The key is not there.): no such file"));
  EXPECT_THAT(OpenByteSource("s3://b/mine"),
              FailsWith(StatusCode::kPermissionDenied, "HTTP 403 AccessDenied (Access Denied)"));
}

TEST_F(S3Test, ABucketElsewhereIsAskedForThere) {
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
  const LoopbackServer server([](const LoopbackRequest& request, int number) {
    if (number == 0)
      return LoopbackAnswer{.status = 301, .headers = {"x-amz-bucket-region: eu-north-1"}};
    EXPECT_THAT(request.headers.at("authorization"), HasSubstr("/eu-north-1/s3/"));
    return ServeContent(request, "content");
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  STOKER_ASSERT_OK(OpenByteSource("s3://elsewhere/a").status());
  EXPECT_EQ(server.requests(), 2);
}

// Holds answers back until that many requests are under way.
class AnswersAtOnce {
 public:
  explicit AnswersAtOnce(int requests) : wanted_(requests) {}

  void Wait() {
    const MutexLock lock(mutex_);
    if (++here_ == wanted_) changed_.NotifyAll();
    while (here_ < wanted_) changed_.Wait(mutex_);
  }

 private:
  const int wanted_;
  Mutex mutex_;
  CondVar changed_;
  int here_ STOKER_GUARDED_BY(mutex_) = 0;
};

// What is wrong with each of the files, all opened at once.
std::vector<std::string> OpenAtOnce(const std::string& bucket, int files) {
  std::vector<std::string> errors(files);
  std::vector<std::thread> threads;
  for (int i = 0; i < files; ++i) {
    threads.emplace_back([&, i] {
      const auto source = OpenByteSource(fmt::format("s3://{}/{}", bucket, i));
      errors[i] = source.ok() ? "" : source.status().ToString();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::erase(errors, "");
  return errors;
}

TEST_F(S3Test, AllOfSeveralRequestsForABucketElsewhereFindIt) {
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
  AnswersAtOnce redirects(4);
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    if (request.headers.at("authorization").find("/eu-north-1/s3/") != std::string::npos)
      return ServeContent(request, "content");
    redirects.Wait();
    return LoopbackAnswer{.status = 301, .headers = {"x-amz-bucket-region: eu-north-1"}};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  EXPECT_THAT(OpenAtOnce("all-elsewhere", 4), ElementsAre());
}

TEST_F(S3Test, AClockThatIsWrongIsCorrected) {
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (!request.headers.at("x-amz-date").starts_with("20991106T"))
      return LoopbackAnswer{.status = 403,
                            .headers = {"Date: Fri, 06 Nov 2099 08:49:37 GMT"},
                            .body = "<Error><Code>RequestTimeTooSkewed</Code></Error>"};
    return ServeContent(request, "content");
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  STOKER_ASSERT_OK(OpenByteSource("s3://skewed/a").status());
}

TEST_F(S3Test, CredentialsThatExpireAreReadAgain) {
  Write("credentials",
        "[default]\naws_access_key_id = A\naws_secret_access_key = s\naws_session_token = old\n");
  const LoopbackServer server([this](const LoopbackRequest& request, int) {
    if (request.headers.at("x-amz-security-token") == "new")
      return ServeContent(request, "content");
    Write("credentials",
          "[default]\naws_access_key_id = A\naws_secret_access_key = s\naws_session_token = new\n");
    return LoopbackAnswer{.status = 403, .body = "<Error><Code>ExpiredToken</Code></Error>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  STOKER_ASSERT_OK(OpenByteSource("s3://expiring/a").status());
}

TEST_F(S3Test, AllOfSeveralRequestsTakeTheNewCredentials) {
  const auto write = [this](const char* token) {
    Write(
        "credentials",
        fmt::format(
            "[default]\naws_access_key_id = A\naws_secret_access_key = s\naws_session_token = {}\n",
            token));
  };
  write("old");
  AnswersAtOnce refusals(4);
  Mutex mutex;
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    if (request.headers.at("x-amz-security-token") == "new")
      return ServeContent(request, "content");
    {
      const MutexLock lock(mutex);
      write("new");
    }
    refusals.Wait();
    return LoopbackAnswer{.status = 403, .body = "<Error><Code>ExpiredToken</Code></Error>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  EXPECT_THAT(OpenAtOnce("all-expiring", 4), ElementsAre());
}

TEST_F(S3Test, CredentialsThatExpireAndAreNotRenewedAreAnErrorAtOnce) {
  Write("credentials",
        "[default]\naws_access_key_id = A\naws_secret_access_key = s\naws_session_token = old\n");
  const LoopbackServer server([](const LoopbackRequest&, int) {
    return LoopbackAnswer{.status = 403, .body = "<Error><Code>ExpiredToken</Code></Error>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  EXPECT_THAT(OpenByteSource("s3://expired/a"),
              FailsWith(StatusCode::kPermissionDenied, "renew the credentials"));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(S3Test, CredentialsThatExpireAreNamedWhateverTheStatus) {
  Write("credentials", "[default]\naws_access_key_id = A\naws_secret_access_key = s\n");
  const LoopbackServer server([](const LoopbackRequest&, int) {
    return LoopbackAnswer{.status = 400, .body = "<Error><Code>ExpiredToken</Code></Error>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root()}));
  EXPECT_THAT(OpenByteSource("s3://expired-400/a"),
              FailsWith(StatusCode::kPermissionDenied, "renew the credentials"));
}

TEST_F(S3Test, AnEndpointWithAUserIsRefusedWithoutItsPassword) {
  const ScopedRemoteOptions options(
      Fresh({.endpoint = "http://u:secret@127.0.0.1:1", .anonymous = true}));
  const Status status = OpenByteSource("s3://b/a").status();
  EXPECT_THAT(status, FailsWith(StatusCode::kFailedPrecondition, "has a user before the @"));
  EXPECT_EQ(status.message().find("secret"), std::string::npos) << status.message();
}

TEST_F(S3Test, AKeyWithAControlCharacterIsNamedWithItsBucket) {
  const LoopbackServer server([](const LoopbackRequest&, int) {
    return LoopbackAnswer{
        .body =
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>t/x&#27;[31m&#10;y"
            "</Key><Size>5</Size></Contents></ListBucketResult>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  const std::string says =
      "the bucket b has an object whose key has a control character in it: "
      "'t/x\\u001b[31m\\ny'";
  EXPECT_THAT(ExpandRemoteGlob("s3://b/t/x*"), FailsWith(StatusCode::kDataLoss, says));
  EXPECT_THAT(ListRemoteFolder("s3://b/t"), FailsWith(StatusCode::kDataLoss, says));
  EXPECT_THAT(ExpandRemoteGlob("s3://b/t/z*"), FailsWith(StatusCode::kNotFound, "no object"));
}

TEST_F(S3Test, ALongWaitThatAServerAsksForIsToldOnce) {
  const LoopbackServer server([](const LoopbackRequest&, int number) {
    if (number < 1) return LoopbackAnswer{.status = 503, .headers = {"Retry-After: 5"}};
    return LoopbackAnswer{.body = "x"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  testing::internal::CaptureStderr();
  const auto opened = OpenByteSource("s3://slow/a");
  const std::string said = testing::internal::GetCapturedStderr();
  STOKER_EXPECT_OK(opened);
  EXPECT_THAT(said, testing::HasSubstr("the server asks for a retry after 5 s"));
}

TEST_F(S3Test, TheFirstFileThatIsMissingIsNamed) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (request.target.ends_with("3") || request.target.ends_with("5"))
      return LoopbackAnswer{.status = 404};
    return ServeContent(request, "content");
  });
  const ScopedRemoteOptions options;
  std::vector<std::string> urls;
  for (int i = 0; i < 8; ++i) urls.push_back(server.url("shard-" + std::to_string(i)));
  EXPECT_THAT(CheckRemoteFiles(urls), FailsWith(StatusCode::kNotFound, "shard-3: HTTP 404"));
}

}  // namespace stoker::s3_test
