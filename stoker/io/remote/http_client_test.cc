#include "stoker/io/remote/http_client.h"

#include "stoker/base/testing.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker::http_client_test {

// Keeps all that it is handed.
class Kept final : public HttpSink {
 public:
  bool Begin(const HttpHead& head) override {
    etag = head.etag;
    return true;
  }
  bool Take(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  std::string etag, text;
};

TEST(HttpClient, FieldsThatFollowAnAnswerInPiecesChangeNothing) {
  for (const char* body : {"7\r\ncontent\r\n0\r\n", "0\r\n"}) {
    for (const char* trailer : {"", "X-Checksum: 1\r\n", "ETag: \"other\"\r\nContent-Length: x\r\n",
                                "Content-Range: bytes 5-6/7\r\n"}) {
      const LoopbackServer server([&](const LoopbackRequest&, int) {
        return LoopbackAnswer{.headers = {"Transfer-Encoding: chunked", "ETag: \"v1\""},
                              .body = body + std::string(trailer) + "\r\n"};
      });
      Kept kept;
      const HttpAnswer answer = PerformHttp({.url = server.url("a")}, kept, /*cancel=*/nullptr);
      EXPECT_EQ(answer.problem, "") << trailer;
      EXPECT_EQ(answer.head.status, 200);
      EXPECT_EQ(answer.head.etag, "\"v1\"");
      EXPECT_FALSE(answer.head.content_range || answer.head.broken_length);
      EXPECT_EQ(kept.text, body[0] == '7' ? "content" : "");
    }
  }
}

TEST(HttpClient, ARedirectsHeadIsNotTheAnswers) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (request.target == "/b")
      return LoopbackAnswer{.headers = {"ETag: \"b\""}, .body = "content"};
    return LoopbackAnswer{.status = 302,
                          .headers = {"Location: /b", "Transfer-Encoding: chunked", "ETag: \"a\""},
                          .body = "4\r\ngone\r\n0\r\nX-Checksum: 1\r\n\r\n"};
  });
  Kept kept;
  const HttpAnswer answer = PerformHttp({.url = server.url("a")}, kept, /*cancel=*/nullptr);
  EXPECT_EQ(answer.problem, "");
  EXPECT_EQ(kept.etag, "\"b\"");
  EXPECT_EQ(kept.text, "content");
}

}  // namespace stoker::http_client_test
