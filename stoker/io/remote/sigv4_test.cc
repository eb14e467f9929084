#include "stoker/io/remote/sigv4.h"

#include "stoker/base/testing.h"

namespace stoker::sigv4_test {

using ::testing::EndsWith;
using ::testing::StartsWith;

// The examples of "Authenticating Requests: Using the Authorization Header (AWS Signature Version
// 4)" in Amazon's documentation of S3.
const AwsCredentials kExample{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              ""};
const SigV4Scope kScope{.region = "us-east-1", .service = "s3", .time = 1369353600};

SigV4Request ExampleRequest(std::string path, std::string query) {
  return {.path = std::move(path),
          .query = std::move(query),
          .headers = {{"host", "examplebucket.s3.amazonaws.com"},
                      {"x-amz-content-sha256", std::string(kEmptySha256)},
                      {"x-amz-date", "20130524T000000Z"}},
          .payload_sha256 = kEmptySha256};
}

TEST(SigV4, GivesAmazonsSignatureOfAPart) {
  SigV4Request request = ExampleRequest("/test.txt", "");
  request.headers.emplace_back("range", "bytes=0-9");
  EXPECT_EQ(SigV4Authorization(request, kScope, kExample),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4, GivesAmazonsSignatureOfAList) {
  EXPECT_THAT(
      SigV4Authorization(ExampleRequest("/", "max-keys=2&prefix=J"), kScope, kExample),
      EndsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SigV4, GivesAmazonsSignatureOfAParameterWithoutValue) {
  EXPECT_THAT(
      SigV4Authorization(ExampleRequest("/", "lifecycle="), kScope, kExample),
      EndsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(SigV4, GivesTheSignatureOfAmazonsTestSuite) {  // aws-sig-v4-test-suite, get-vanilla
  const SigV4Request request{
      .path = "/",
      .headers = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
      .payload_sha256 = kEmptySha256};
  EXPECT_THAT(
      SigV4Authorization(request, {.region = "us-east-1", .service = "service", .time = 1440938160},
                         {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""}),
      EndsWith("Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
}

// The signature of a request of aws-sig-v4-test-suite.
std::string SignatureOfTestSuite(SigV4Request request) {
  request.headers.emplace_back("Host", "example.amazonaws.com");
  request.headers.emplace_back("X-Amz-Date", "20150830T123600Z");
  request.payload_sha256 = kEmptySha256;
  const std::string text =
      SigV4Authorization(request, {.region = "us-east-1", .service = "service", .time = 1440938160},
                         {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""});
  return text.substr(text.rfind('=') + 1);
}

TEST(SigV4, SortsParametersByNameThenByValueBeforeItSigns) {
  EXPECT_EQ(SignatureOfTestSuite({.path = "/", .query = "Param2=value2&Param1=value1"}),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");  // order-key-case
  const auto sign = [](std::string query) {
    return SignatureOfTestSuite({.path = "/", .query = std::move(query)});
  };
  EXPECT_EQ(sign("a-b=1&a=2&a=1&a&A="), sign("A=&a=&a=1&a=2&a-b=1"));
  EXPECT_EQ(sign("a&&b="), sign("=&a=&b="));
  EXPECT_EQ(sign("a&"), sign("=&a="));
  EXPECT_NE(sign("a=1&b=2"), sign("a=2&b=1"));
}

TEST(SigV4, TrimsAndJoinsHeadersBeforeItSigns) {
  EXPECT_EQ(
      SignatureOfTestSuite(
          {.path = "/", .headers = {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}}),
      "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");  // value-trim
  EXPECT_EQ(SignatureOfTestSuite({.path = "/",
                                  .headers = {{"My-Header1", "value2"},
                                              {"My-Header1", "value2"},
                                              {"My-Header1", "value1"}}}),
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea");  // key-duplicate
}

TEST(AwsTime, IsTheBasicFormOfIso8601) { EXPECT_EQ(AwsTime(1440938160), "20150830T123600Z"); }

}  // namespace stoker::sigv4_test
