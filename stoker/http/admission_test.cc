#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/http/admission_internal.h"
#include "stoker/http/reply.h"

namespace stoker::admission_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kToken = "0123456789abcdef";

Admission Make(std::optional<TokenCheck> token = {}) {
  const HttpHandler nothing = [](const HttpRequest&, HttpReply) {};
  return Admission(
      {{.path = "/", .handler = nothing, .without_token = HttpResponse{.body = "ask"}},
       {.path = "/metrics", .handler = nothing},
       {.method = "POST", .path = "/predict", .handler = nothing, .most_body_bytes = 10}},
      HttpNames("127.0.0.1", {}), std::move(token));
}

RequestHead Get(std::string target) {
  return {.method = "GET", .target = std::move(target), .headers = {{"Host", "localhost:80"}}};
}

int StatusOf(const AdmissionResult& decision) {
  return decision.route != nullptr ? 200 : decision.refusal.status;
}

TEST(Admission, FindsTheRouteAndPassesTheRequestOn) {
  RequestHead head = Get("/metrics?a=1");
  head.headers.insert(head.headers.end(), {{"X-Some", "1"}, {"x-some", "2"}});
  const Admission admission = Make();
  const AdmissionResult decision = admission.Decide(head);
  ASSERT_NE(decision.route, nullptr);
  EXPECT_EQ(decision.route->path, "/metrics");
  EXPECT_EQ(decision.request.query, "a=1");
  EXPECT_EQ(decision.request.headers.at("x-some"), "1, 2");
  head.method = "HEAD";
  EXPECT_EQ(StatusOf(admission.Decide(head)), 200);
}

TEST(Admission, RefusesWhatIsNotThereAndSaysWhichMethodsAre) {
  const Admission admission = Make();
  EXPECT_EQ(StatusOf(admission.Decide(Get("/metric"))), 404);
  EXPECT_EQ(StatusOf(admission.Decide(Get("/metrics/"))), 404);
  EXPECT_EQ(StatusOf(admission.Decide(Get("/../metrics"))), 404);
  RequestHead head = Get("/metrics");
  head.method = "DELETE";
  const AdmissionResult decision = admission.Decide(head);
  ASSERT_EQ(StatusOf(decision), 405);
  EXPECT_THAT(decision.refusal.headers,
              testing::Contains(std::pair<std::string, std::string>("Allow", "GET, HEAD")));
}

TEST(Admission, RefusesTheNamesOfOtherSitesInHostAndTarget) {
  const Admission admission = Make();
  for (const char* host : {"evil.example", "evil.example:80", "10.1.2.3", ""}) {
    RequestHead head = Get("/metrics");
    head.headers[0].second = host;
    EXPECT_EQ(StatusOf(admission.Decide(head)), 421) << host;
  }
  EXPECT_EQ(StatusOf(admission.Decide(Get("http://evil.example/metrics"))), 421);
  EXPECT_EQ(StatusOf(admission.Decide(Get("http://localhost/metrics"))), 200);
}

TEST(Admission, AsksForOneHostUnlessItIsHttp10) {
  const Admission admission = Make();
  RequestHead head = Get("/metrics");
  head.headers.clear();
  EXPECT_EQ(StatusOf(admission.Decide(head)), 400);
  head.version = 10;
  EXPECT_EQ(StatusOf(admission.Decide(head)), 200);
  head.headers = {{"Host", "localhost"}, {"hOST", "localhost"}};
  EXPECT_EQ(StatusOf(admission.Decide(head)), 400);
  head.version = 20;
  EXPECT_EQ(StatusOf(admission.Decide(head)), 505);
}

TEST(Admission, WithoutTheTokenTellsNothingButThatOneIsNeeded) {
  const Admission admission = Make(TokenCheck(kToken));
  const AdmissionResult there = admission.Decide(Get("/metrics")),
                        not_there = admission.Decide(Get("/x"));
  EXPECT_EQ(StatusOf(there), 401);
  EXPECT_EQ(StatusOf(not_there), 401);
  EXPECT_EQ(there.refusal.body, not_there.refusal.body);
  EXPECT_THAT(there.refusal.body, Not(HasSubstr(kToken)));
  const AdmissionResult page = admission.Decide(Get("/"));
  EXPECT_EQ(StatusOf(page), 401);
  EXPECT_EQ(page.refusal.body, "ask");
  EXPECT_EQ(page.refusal.headers.back().first, "WWW-Authenticate");
}

TEST(Admission, TakesTheTokenFromOneHeaderAlone) {
  const Admission admission = Make(TokenCheck(kToken));
  const std::string right = std::string("Bearer ") + kToken;
  RequestHead head = Get("/metrics");
  head.headers.emplace_back("authorization", right);
  EXPECT_EQ(StatusOf(admission.Decide(head)), 200);
  head.headers.emplace_back("Authorization", right);
  EXPECT_EQ(StatusOf(admission.Decide(head)), 401);
  for (const std::string& wrong : {std::string("Bearer 0123456789abcdeF"), std::string(kToken)}) {
    head.headers = {{"Host", "localhost"}, {"Authorization", wrong}};
    EXPECT_EQ(StatusOf(admission.Decide(head)), 401) << wrong;
  }
  RequestHead query = Get(std::string("/metrics?token=") + kToken);
  EXPECT_EQ(StatusOf(admission.Decide(query)), 401) << "a URL shows no token";
}

TEST(Admission, RefusesBodiesThatAreTooLongOrOfUnknownLength) {
  const Admission admission = Make();
  RequestHead head = Get("/predict");
  head.method = "POST";
  head.content_length = 10;
  EXPECT_EQ(StatusOf(admission.Decide(head)), 200);
  head.content_length = 11;
  EXPECT_EQ(StatusOf(admission.Decide(head)), 413);
  head.content_length.reset();
  head.headers.emplace_back("Transfer-Encoding", "gzip");
  EXPECT_EQ(StatusOf(admission.Decide(head)), 501);
  head.chunked = true;
  EXPECT_EQ(StatusOf(admission.Decide(head)), 200);
  RequestHead get = Get("/metrics");
  get.content_length = 1;
  EXPECT_EQ(StatusOf(admission.Decide(get)), 413);
}

TEST(Admission, RefusesWhatAPageOfAnotherSiteSends) {
  const Admission admission = Make();
  RequestHead head = Get("/predict");
  head.method = "POST";
  head.headers.emplace_back("Origin", "http://localhost:80");
  EXPECT_EQ(StatusOf(admission.Decide(head)), 200);
  for (const char* origin : {"http://evil.example", "null", "", "http://"}) {
    head.headers.back().second = origin;
    EXPECT_EQ(StatusOf(admission.Decide(head)), 403) << origin;
  }
}

}  // namespace
}  // namespace stoker::admission_test
