#include "stoker/io/remote/gcs_json.h"

#include "stoker/base/testing.h"

namespace stoker::gcs_json_test {

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
       "not https://"},
      {R"({"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
           "token_uri": "http://127.0.0.1:80@evil.example/token"})",
       "not https://"}};
  for (const auto& [text, says] : kCases)
    EXPECT_THAT(ParseGcsCredentials(text), FailsWith(StatusCode::kInvalidArgument, says)) << text;
  const std::string long_type = R"({"type": ")" + std::string(200'000, 'x') + "\"}";
  EXPECT_LT(ParseGcsCredentials(long_type).status().message().size(), 1000u);
  EXPECT_THAT(GcsTokenForm({.type = "service_account", .private_key = "no key"}, 0),
              FailsWith(StatusCode::kInvalidArgument, "no RSA key"));
}

}  // namespace stoker::gcs_json_test
