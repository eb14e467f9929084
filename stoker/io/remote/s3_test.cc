#include "stoker/io/remote/s3.h"

#include <cstdlib>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/aws_settings.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_names.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The environment of a user who has the files `credentials` and `config` in ~/.aws, and nothing
// else of Amazon's.
class S3Test : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
          "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
          "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"})
      ::unsetenv(name);
    ::setenv("HOME", dir_.path().c_str(), 1);
    std::filesystem::create_directory(dir_.path() / ".aws");
  }
  void Write(const char* name, std::string_view text) {
    STOKER_ASSERT_OK(WriteFileAtomically((dir_.path() / ".aws" / name).string(), text));
  }
  // A region that no other test uses, so that nothing found before is taken.
  static RemoteOptions Fresh(RemoteOptions options = {}) {
    static int number = 0;
    if (options.region.empty()) options.region = "region-" + std::to_string(number++);
    return options;
  }
  static std::string UrlOf(const std::string& path, const RemoteOptions& options) {
    const auto request = S3Stores::Shared().MakeRequest(*ParseRemotePath(path), "", options);
    return request.ok() ? request->http.url : request.status().ToString();
  }
  const TempDir dir_;
};

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

TEST_F(S3Test, APageOfAListWithoutEndIsRefusedAfterAFewMegabytes) {
  const LoopbackServer server([](const LoopbackRequest&, int) {
    return LoopbackAnswer{.body = "<ListBucketResult>" + std::string(9 << 20, 'x')};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  EXPECT_THAT(ExpandRemoteGlob("s3://b/t/x*"),
              FailsWith(StatusCode::kUnavailable, "is longer than 8 MiB"));
  EXPECT_EQ(server.requests(), 1);
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
  EXPECT_THAT(said, testing::HasSubstr("the server asks to come back in 5 s"));
}

TEST_F(S3Test, PatternsAreListedPageByPage) {
  const LoopbackServer server([](const LoopbackRequest& request, int number) {
    if (number == 0) {
      EXPECT_EQ(request.target, "/b?delimiter=%2F&encoding-type=url&list-type=2&prefix=t%2Fx");
      return LoopbackAnswer{
          .body =
              "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a/b="
              "</NextContinuationToken><Contents><Key>t/x2.tar</Key><Size>5</Size></Contents>"
              "<Contents><Key>t/x</Key><Size>5</Size></Contents></ListBucketResult>"};
    }
    EXPECT_EQ(request.target,
              "/b?continuation-token=a%2Fb%3D&delimiter=%2F&encoding-type=url&list-type=2&prefix="
              "t%2Fx");
    return LoopbackAnswer{
        .body =
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>t/x1%2B.tar</Key>"
            "<Size>6</Size></Contents></ListBucketResult>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob("s3://b/t/x*.tar"));
  EXPECT_THAT(paths, ElementsAre("s3://b/t/x1+.tar", "s3://b/t/x2.tar"));
  STOKER_EXPECT_OK(CheckRemoteFiles(paths));  // nothing is asked for: the list has told
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(S3Test, AFolderIsListedAtAllDepths) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    EXPECT_EQ(request.target, "/b?encoding-type=url&list-type=2&prefix=t%2F");
    return LoopbackAnswer{
        .body =
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>t/</Key><Size>0"
            "</Size></Contents><Contents><Key>t/b%2B/1.jpg</Key><Size>6</Size></Contents><Contents>"
            "<Key>t/a/</Key><Size>0</Size></Contents></ListBucketResult>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  for (const char* folder : {"s3://b/t", "s3://b/t/"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto names, ListRemoteFolder(folder));
    EXPECT_THAT(names, ElementsAre("a/", "b+/1.jpg"));
  }
  EXPECT_THAT(ListRemoteFolder("http://host/t"),
              FailsWith(StatusCode::kUnimplemented, "http://host/t: what is in a folder"));
}

TEST_F(S3Test, AFolderOfNothingIsAnError) {
  const LoopbackServer server([](const LoopbackRequest&, int) {
    return LoopbackAnswer{
        .body = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  EXPECT_THAT(ListRemoteFolder("s3://b/nothing"),
              FailsWith(StatusCode::kNotFound, "s3://b/nothing: no object is below it"));
}

TEST_F(S3Test, AListThatGoesRoundInCirclesIsAnError) {
  struct Case {
    const char* name;
    std::function<std::string(int)> continuation, key;
    const char* says;
  };
  const Case kCases[] = {
      {"the same", [](int) { return "a"; }, [](int n) { return fmt::format("k{}", n); },
       "it gives a continuation again"},
      {"two in turn", [](int n) { return n % 2 == 0 ? "a" : "b"; },
       [](int n) { return fmt::format("k{}", n); }, "it gives a continuation again"},
      {"without objects", [](int n) { return n % 3 == 0 ? "a" : "b"; }, [](int) { return ""; },
       "it gives a continuation again"},
      {"the same page", [](int n) { return fmt::format("t{}", n); }, [](int) { return "k"; },
       "it gives 'k' again"}};
  for (const Case& one : kCases) {
    const LoopbackServer server([&](const LoopbackRequest&, int number) {
      if (number > 100) return LoopbackAnswer{.status = 404};  // so that the test ends
      const std::string key = one.key(number);
      return LoopbackAnswer{
          .body = fmt::format(
              "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{}"
              "</NextContinuationToken>{}</ListBucketResult>",
              one.continuation(number),
              key.empty() ? ""
                          : fmt::format("<Contents><Key>{}</Key><Size>5</Size></Contents>", key))};
    });
    const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
    EXPECT_THAT(ExpandRemoteGlob("s3://b/k*"), FailsWith(StatusCode::kUnavailable, one.says))
        << one.name;
    EXPECT_LT(server.requests(), 10);
  }
}

// A page whose continuation is its number, or that is the last one.
LoopbackAnswer PageOf(std::string_view names, int number, bool last) {
  return {.body = fmt::format("<ListBucketResult><IsTruncated>{}</IsTruncated>"
                              "<NextContinuationToken>{}</NextContinuationToken>{}"
                              "</ListBucketResult>",
                              !last, number, names)};
}

TEST_F(S3Test, AListOfEmptyPagesWithoutEndIsAnError) {
  const LoopbackServer server([](const LoopbackRequest&, int number) {
    return PageOf("", number, /*last=*/number > 3000);  // so that the test ends
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  EXPECT_THAT(ExpandRemoteGlob("s3://b/k*"),
              FailsWith(StatusCode::kUnavailable, "has 1000 pages without a name in a row"));
  EXPECT_EQ(server.requests(), 1001);
}

TEST_F(S3Test, AListOfEverNewNamesAndContinuationsIsAnError) {
  for (const bool matching : {true, false}) {
    const LoopbackServer server([&](const LoopbackRequest&, int number) {
      const std::string name = fmt::format("{}{:09}", matching ? "k" : "k/", number);
      return PageOf(fmt::format("<Contents><Key>{}</Key><Size>5</Size></Contents>", name), number,
                    /*last=*/number > 5000);  // so that the test ends
    });
    const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
    EXPECT_THAT(
        ExpandRemoteGlob("s3://b/k*"),
        FailsWith(StatusCode::kUnavailable, "names in 1112 pages, and says that there are"));
    EXPECT_EQ(server.requests(), 1112);
  }
}

TEST_F(S3Test, AListOfMoreNamesThanThereMayBeIsAnError) {
  const LoopbackServer server([](const LoopbackRequest&, int number) {
    std::string names;
    for (int i = 0; i < 100; ++i)
      names +=
          fmt::format("<Contents><Key>t/{:09}</Key><Size>5</Size></Contents>", number * 100 + i);
    return PageOf(names, number, /*last=*/number % 10 == 9);
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  EXPECT_THAT(ListRemoteFolder("s3://b/t", /*most_names=*/999),
              FailsWith(StatusCode::kResourceExhausted, "has more than 999 names"));
  EXPECT_THAT(ExpandRemoteGlob("s3://b/t/1*", /*most_names=*/999),
              FailsWith(StatusCode::kResourceExhausted, "has more than 999 names"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto names, ListRemoteFolder("s3://b/t", /*most_names=*/1000));
  EXPECT_EQ(names.size(), 1000u);
}

TEST_F(S3Test, EmptyPagesAndPagesOfFoldersBetweenNamesArePassed) {
  constexpr int kPages = 1500;
  const LoopbackServer server([](const LoopbackRequest&, int number) {
    const bool last = number >= kPages;
    if (last) return PageOf("<Contents><Key>k9</Key><Size>5</Size></Contents>", number, last);
    const bool folder = number % 2 == 0;
    std::string folders;
    for (int i = 0; folder && i < 20; ++i)
      folders += fmt::format("<CommonPrefixes><Prefix>a{}/</Prefix></CommonPrefixes>", i);
    return PageOf(folders, number, last);
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto names, ExpandRemoteGlob("s3://b/k*"));
  EXPECT_THAT(names, ElementsAre("s3://b/k9"));
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

}  // namespace
}  // namespace stoker
