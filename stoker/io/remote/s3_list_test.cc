// Lists of buckets: patterns, folders, and servers whose lists have no end.
#include <fmt/format.h>

#include <functional>

#include "stoker/io/remote/remote_names.h"
#include "stoker/io/remote/s3_testing_internal.h"

namespace stoker::s3_list_test {

using ::testing::ElementsAre;

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

TEST_F(S3Test, APageOfAListWithoutEndIsRefusedAfterAFewMegabytes) {
  const LoopbackServer server([](const LoopbackRequest&, int) {
    return LoopbackAnswer{.body = "<ListBucketResult>" + std::string(9 << 20, 'x')};
  });
  const ScopedRemoteOptions options(Fresh({.endpoint = server.root(), .anonymous = true}));
  EXPECT_THAT(ExpandRemoteGlob("s3://b/t/x*"),
              FailsWith(StatusCode::kUnavailable, "is longer than 8 MiB"));
  EXPECT_EQ(server.requests(), 1);
}

}  // namespace stoker::s3_list_test
