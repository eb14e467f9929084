// What is read from servers and from files of settings, as text: heads of answers, addresses, XML,
// INI, sizes.
#include "stoker/base/testing.h"
#include "stoker/io/remote/http_head.h"
#include "stoker/io/remote/ini_file.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/s3_xml.h"

namespace stoker::remote_text_test {

TEST(HttpHead, TakesTheLastAnswersFields) {
  HttpHead head;
  for (const char* line :
       {"HTTP/1.1 301 Moved\r\n", "ETag: \"old\"\r\n", "\r\n", "HTTP/1.1 206 Partial Content\r\n",
        "content-LENGTH:  100\r\n", "Content-Range: bytes 5-104/1000\r\n", "etag: W/\"x\"\r\n",
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "no colon\r\n", "\r\n"})
    TakeHeadLine(line, head);
  EXPECT_EQ(head.status, 206);
  EXPECT_EQ(head.content_length, 100u);
  EXPECT_EQ(head.content_range->first, 5u);
  EXPECT_EQ(head.content_range->last, 104u);
  EXPECT_EQ(head.content_range->total, 1000u);
  EXPECT_EQ(head.etag, "W/\"x\"");
  EXPECT_FALSE(IsStrongTag(head.etag));
  EXPECT_TRUE(IsStrongTag("\"x\""));
}

TEST(HttpHead, NumbersThatAreNoneCountAsNotGiven) {
  HttpHead head;
  for (const char* text : {"-1", "1e3", "", "99999999999999999999", "0x10", "1 2"}) {
    TakeHeadLine(std::string("Content-Length: ") + text, head);
    EXPECT_EQ(head.content_length, std::nullopt) << text;
    EXPECT_TRUE(head.broken_length) << text;
  }
  for (const char* text : {"bytes 5-4/10", "bytes 5-10/10", "bytes 5-", "bytes */", "items 0-1/2",
                           "bytes 0-1", "bytes 0-99999999999999999999/*"})
    EXPECT_FALSE(ParseContentRange(text).has_value()) << text;
  EXPECT_EQ(ParseContentRange("bytes */10")->total, 10u);
  EXPECT_EQ(ParseContentRange("bytes 0-1/*")->total, std::nullopt);
}

TEST(HttpHead, WaitsAreSecondsOrADate) {
  HttpHead head;
  TakeHeadLine("Retry-After: 7", head);
  EXPECT_EQ(head.retry_after_s, 7);
  TakeHeadLine("Date: Sun, 06 Nov 1994 08:49:37 GMT", head);
  TakeHeadLine("Retry-After: Sun, 06 Nov 1994 08:50:00 GMT", head);
  EXPECT_EQ(head.retry_after_s, 23);
  TakeHeadLine("Retry-After: soon", head);
  EXPECT_EQ(head.retry_after_s, std::nullopt);
}

TEST(HttpDate, IsSecondsSince1970) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);  // RFC 9110's example
  EXPECT_EQ(ParseHttpDate("Thu, 29 Feb 2024 00:00:00 GMT"), 1709164800);
  for (const char* text : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Wed, 30 Feb 2024 00:00:00 GMT",
                           "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"})
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
}

TEST(RemotePath, OfHttpIsEncodedAndNamedWithoutSecrets) {
  STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation a,
                              ParseRemotePath("https://me:pw@host:8/a b/\xc3\xa9%20?sig=1#part"));
  EXPECT_EQ(a.url, "https://me:pw@host:8/a%20b/%C3%A9%20?sig=1");
  EXPECT_EQ(a.name, "https://host:8/a b/\xc3\xa9%20?...");
  EXPECT_THAT(ParseRemotePath("http:///a"), FailsWith(StatusCode::kInvalidArgument, "no host"));
  EXPECT_THAT(ParseRemotePath("http://h/a\r\nX: y"),
              FailsWith(StatusCode::kInvalidArgument, "control character"));
  EXPECT_EQ(ParseRemotePath("http://host/a@b")->name, "http://host/a@b");
}

TEST(RemotePath, OfS3IsBucketAndKey) {
  STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation a, ParseRemotePath("s3://my-bucket/a/b c?.tar"));
  EXPECT_EQ(a.bucket, "my-bucket");
  EXPECT_EQ(a.key, "a/b c?.tar");
  for (const char* wrong : {"s3://", "s3:///a", "s3://evil.host#/a", "s3://a b/c", "s3://h:80/c"})
    EXPECT_THAT(ParseRemotePath(wrong), FailsWith(StatusCode::kInvalidArgument, "no name"))
        << wrong;
  EXPECT_EQ(PercentEncode("a/b c~+%\xff", true), "a/b%20c~%2B%25%FF");
}

TEST(RemotePath, OfABucketWithAUserIsRefusedWithoutItsSecret) {
  for (const char* wrong :
       {"s3://KEY:SECRET@bucket/k", "gs://KEY:SECRET@bucket/k", "s3://KEY:SEC/RET@bucket/k",
        "s3://KEY@bucket", "gs://KEY:SECRET/a@b/c@bucket/k"}) {
    const Status status = ParseRemotePath(wrong).status();
    EXPECT_THAT(status, FailsWith(StatusCode::kInvalidArgument, "...@bucket")) << wrong;
    EXPECT_THAT(status.message(),
                testing::AllOf(testing::HasSubstr("credentials"),
                               testing::Not(testing::ContainsRegex("SEC|RET|KEY"))));
    EXPECT_THAT(NameForMessages(wrong), testing::Not(testing::ContainsRegex("SEC|RET|KEY")));
  }
  EXPECT_EQ(ParseRemotePath("s3://bucket/a:b@c")->key, "a:b@c");
}

TEST(S3Xml, ErrorsHaveCodeAndMessage) {
  const S3Error error = ParseS3Error(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>It&apos;s "
      "not &lt;here&gt; &#x41;&#233;</Message><Key>a</Key><Region>eu-west-1</Region></Error>");
  EXPECT_EQ(error.code, "NoSuchKey");
  EXPECT_EQ(error.message, "It's not <here> A\xc3\xa9");
  EXPECT_EQ(error.region, "eu-west-1");
  for (const char* text :
       {"", "<html>no</html>", "<Error><Code>a</Error>", "<Error", "&", "<a></b>"})
    EXPECT_EQ(ParseS3Error(text).code, "") << text;
}

TEST(S3Xml, ListsHaveNamesSizesAndTags) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const S3List list,
      ParseS3List(
          "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
          "<Prefix/><IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1"
          "</NextContinuationToken><Contents><Key>a%20b%2Bc+d</Key><Size>12</Size><ETag>"
          "&quot;x&quot;</ETag></Contents><Contents><Key>e</Key><ETag>\"y\"</ETag>"
          "<Size>0</Size><Owner><ID>1</ID></Owner></Contents></ListBucketResult>"));
  ASSERT_EQ(list.objects.size(), 2u);
  EXPECT_EQ(list.objects[0].key, "a b+c d");
  EXPECT_EQ(list.objects[0].size, 12u);
  EXPECT_EQ(list.objects[0].etag, "\"x\"");
  EXPECT_EQ(list.objects[1].key, "e");
  EXPECT_EQ(list.continuation, "t&1");
  EXPECT_EQ(list.folders, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const S3List folders,
      ParseS3List("<ListBucketResult><Prefix>p</Prefix><CommonPrefixes><Prefix>p/a/</Prefix>"
                  "</CommonPrefixes></ListBucketResult>"));
  EXPECT_EQ(folders.folders, 1);
}

TEST(S3Xml, ListsThatAreNoneAreErrors) {
  constexpr const char* kWrong[] = {
      "",
      "<html></html>",
      "<ListBucketResult><Name>b</Name>",
      "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
      "<ListBucketResult><Contents><Key>%G0</Key><Size>1</Size></Contents></ListBucketResult>",
      "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
      "<ListBucketResult><Name>&nope;</Name></ListBucketResult>"};
  for (const char* text : kWrong)
    EXPECT_THAT(ParseS3List(text), FailsWith(StatusCode::kUnavailable, "list of objects")) << text;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_THAT(ParseS3List(deep), FailsWith(StatusCode::kUnavailable, "list of objects"));
}

TEST(Ini, SectionsKeysCommentsAndNestedSettings) {
  const auto sections = ParseIni(
      "ignored = 1\n# comment\n[default]\naws_access_key_id=AK ; comment\r\n"
      "aws_secret_access_key = a+b/c#d=\n\n[profile other one]\nregion= eu-west-1\ns3 =\n"
      "  addressing_style = path\n  endpoint_url = http://h\noutput = json\n[broken\nnonsense\n");
  EXPECT_EQ(sections.at("default").at("aws_access_key_id"), "AK");
  EXPECT_EQ(sections.at("default").at("aws_secret_access_key"), "a+b/c#d=");
  EXPECT_EQ(sections.at("other one").at("region"), "eu-west-1");
  EXPECT_EQ(sections.at("other one").at("s3.endpoint_url"), "http://h");
  EXPECT_EQ(sections.at("other one").at("output"), "json");
  EXPECT_EQ(sections.size(), 2u);
}

}  // namespace stoker::remote_text_test
