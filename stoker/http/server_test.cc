#include "stoker/http/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/http/reply.h"
#include "stoker/http/server_testing_internal.h"
#include "stoker/http/testing_internal.h"

namespace stoker::server_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

TEST(HttpServer, AnswersGetAndHead) {
  const auto server = StartWith({});
  ExpectServes(*server);
  const std::string head =
      Ask(*server, "HEAD /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(Ask(*server, "GET /hello HTTP/1.0\r\n\r\n"), testing::EndsWith("hello"));
  EXPECT_THAT(server->url(), StartsWith("http://127.0.0.1:"));
}

TEST(HttpServer, AnswersRequestsOfOneConnectionInTheirOrder) {
  const auto server = StartWith({});
  const std::string answers =
      Ask(*server,
          "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\none"
          "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
          "chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n" +
              std::string(kGet));
  const size_t one = answers.find("\r\n\r\none"), two = answers.find("\r\n\r\ntwo"),
               hello = answers.find("\r\n\r\nhello");
  EXPECT_LT(one, two);
  EXPECT_LT(two, hello);
  EXPECT_NE(hello, std::string::npos);
}

TEST(HttpServer, TellsAClientThatAsksToSendItsBody) {
  const auto server = StartWith({});
  RawClient client(server->port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_THAT(client.Receive("100 Continue\r\n\r\n"), HasSubstr("100 Continue"));
  client.Send("body");
  EXPECT_THAT(client.Receive(), testing::EndsWith("\r\n\r\nbody"));
  EXPECT_THAT(Ask(*server,
                  "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                  "Content-Length: 4000\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, AHandlerThatFailsOrForgetsToAnswerGivesStatus500AndTellsNothing) {
  const auto server = StartWith({});
  for (const char* path : {"/throws", "/forgets"}) {
    const std::string answer =
        Ask(*server,
            fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 ")) << path;
    EXPECT_THAT(answer, testing::Not(HasSubstr("secret")));
  }
}

TEST(HttpServer, AHandlerMayAnswerLaterFromAnotherThreadWhileOthersAreServed) {
  Mutex mutex;
  std::optional<HttpReply> kept;
  const auto server = StartWith({}, [&] {
    std::vector<HttpRoute> routes = Routes();
    routes.push_back({.path = "/later", .handler = [&](const HttpRequest&, HttpReply reply) {
                        const MutexLock lock(mutex);
                        kept = std::move(reply);
                      }});
    return routes;
  }());
  RawClient client(server->port());
  client.Send("GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const auto has = [&] {
    const MutexLock lock(mutex);
    return kept.has_value();
  };
  while (!has()) std::this_thread::yield();
  ExpectServes(*server);
  kept->Send({.body = "first"});
  kept->Send({.body = "second"});
  EXPECT_THAT(client.Receive(), testing::EndsWith("\r\n\r\nfirst"));
}

struct BrokenRequest {
  const char* name;
  std::string bytes;
  int status;  // 0: the connection may be closed without an answer
};

std::vector<BrokenRequest> BrokenRequests() {
  const std::string post = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";
  return {
      {"NoHttp", "\x16\x03\x01\x02\x01\r\n\r\n", 400},
      {"NoVersion", "GET /hello\r\n\r\n", 400},
      {"Http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"ZeroByte", std::string("GET /hello HTTP/1.1\r\nHost: local\0host\r\n\r\n", 42), 400},
      {"HeaderWithoutColon", "GET /hello HTTP/1.1\r\nHost\r\n\r\n", 400},
      {"SpaceBeforeColon", "GET /hello HTTP/1.1\r\nHost : localhost\r\n\r\n", 400},
      {"LongTarget", "GET /" + std::string(20000, 'a') + " HTTP/1.1\r\n\r\n", 431},
      {"LongHeader", "GET / HTTP/1.1\r\nX: " + std::string(20000, 'a') + "\r\n\r\n", 431},
      {"ManyHeaders",
       [] {
         std::string many = "GET / HTTP/1.1\r\n";
         for (int i = 0; i < 5000; ++i) many += fmt::format("X{}: 1\r\n", i);
         return many + "\r\n";
       }(),
       431},
      {"NegativeLength", post + "Content-Length: -1\r\n\r\n", 400},
      {"HugeLength", post + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {"LengthPastTheLimit", post + "Content-Length: 1001\r\n\r\n", 413},
      {"TwoLengths", post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
      {"LengthAndChunked",
       post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"UnknownEncoding", post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"ChunkOfNoNumber", post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"HugeChunk", post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\na", 413},
      {"ChunksPastTheLimit",
       [&] {
         std::string chunks = post + "Transfer-Encoding: chunked\r\n\r\n";
         for (int i = 0; i < 300; ++i) chunks += "a\r\n0123456789\r\n";
         return chunks;
       }(),
       413},
      {"WrongHost", "GET /hello HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421},
  };
}

TEST(HttpServer, RefusesBrokenRequestsAndGoesOn) {
  const auto server = StartWith({});
  for (const BrokenRequest& broken : BrokenRequests()) {
    SCOPED_TRACE(broken.name);
    RawClient client(server->port());
    client.Send(broken.bytes);
    // The client has said all; what follows is the server's.
    ::shutdown(client.descriptor(), SHUT_WR);
    EXPECT_THAT(client.Receive(), StartsWith(fmt::format("HTTP/1.1 {} ", broken.status)));
    EXPECT_TRUE(client.ended());
    ExpectServes(*server);
  }
}

TEST(HttpServer, AnEndlessChunkedBodyEndsAtItsLimit) {
  const auto server = StartWith({});
  RawClient client(server->port());
  client.Send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "1000\r\n" + std::string(4096, 'x') + "\r\n";
  int64_t sent = 0;
  while (client.Send(chunk) && sent < (int64_t{1} << 30)) sent += std::ssize(chunk);
  EXPECT_LT(sent, int64_t{64} << 20) << "what lies in the kernel's buffers, and no more";
  ExpectServes(*server);
}

TEST(HttpServer, HalfRequestsLockNobodyOut) {
  const auto server = StartWith({.connections = 8, .header_time = hours(1)});
  std::vector<RawClient> halves;
  for (int i = 0; i < 40; ++i) {
    halves.emplace_back(server->port());
    ASSERT_TRUE(halves.back().Send(kHalf));
  }
  ExpectServes(*server);
  int ended = 0;
  for (RawClient& half : halves) {
    half.Receive({}, /*seconds=*/0.001);
    ended += half.ended() ? 1 : 0;
  }
  EXPECT_GE(ended, 40 + 1 - 8) << "the oldest made room";
  EXPECT_FALSE(halves.back().ended());
}

TEST(HttpServer, AClientThatDripsItsHeaderIsCutOffAtTheDeadline) {
  const auto server = StartWith({.header_time = milliseconds(300)});
  RawClient client(server->port());
  client.Send("GET /hello HTTP/1.1\r\nHost: localhost\r\nX: ");
  // A deadline from byte to byte would never come.
  while (client.Send("x")) std::this_thread::sleep_for(milliseconds(20));
  client.Receive();
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, AClientThatDoesNotSendItsBodyIsCutOff) {
  const auto server = StartWith({.body_time = milliseconds(100)});
  RawClient client(server->port());
  client.Send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf");
  EXPECT_EQ(client.Receive(), "");
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, AClientThatDoesNotReadHoldsNobodyUpAndIsCutOff) {
  const auto server = StartWith({.write_time = milliseconds(500)});
  RawClient slow(server->port());
  slow.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (int i = 0; i < 5; ++i) ExpectServes(*server);
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_LT(slow.Receive().size(), size_t{64} << 20);
  EXPECT_TRUE(slow.ended());
}

// As many as the process may open: the server takes a quarter of that, the others wait or make
// room.
TEST(HttpServer, OutlivesAThousandConnections) {
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const size_t wanted = std::min<size_t>(1000, limit.rlim_cur / 2);
  {
    const auto server = StartWith({.grace = milliseconds(10), .header_time = hours(1)});
    std::vector<RawClient> clients;
    while (clients.size() < wanted) {
      clients.emplace_back(server->port());
      ASSERT_TRUE(clients.back().connected()) << clients.size();
      clients.back().Send(clients.size() % 2 == 0 ? kHalf : std::string_view());
    }
    ExpectServes(*server);
    clients.clear();
    ExpectServes(*server);
  }
  limit.rlim_cur = before;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(HttpServer, IsReachedFromElsewhereWithATokenAlone) {
  const auto without = HttpServer::Start({.address = {"0.0.0.0", 0}}, Routes());
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(without.status().message(), HasSubstr("--token-file"));
  constexpr const char* kToken = "0123456789abcdef";
  const auto with = HttpServer::Start({.address = {"0.0.0.0", 0}, .token = kToken}, Routes());
  ASSERT_TRUE(with.ok()) << with.status().ToString();
  EXPECT_THAT(Ask(**with, kGet), StartsWith("HTTP/1.1 401 "));
  const std::string head = "GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n";
  EXPECT_THAT(Ask(**with, fmt::format("{}Authorization: Bearer {}\r\n\r\n", head, kToken)),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(**with, fmt::format("{}Authorization: Bearer {}x\r\n\r\n", head, kToken)),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT((*with)->url(), StartsWith("http://127.0.0.1:"));
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = StartWith({});
  const auto second = HttpServer::Start({.address = {"127.0.0.1", server->port()}}, Routes());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(),
              StartsWith(fmt::format("127.0.0.1:{}: another program", server->port())));
  const auto nowhere =
      HttpServer::Start({.address = {"192.0.2.1", 0}, .token = "0123456789abcdef"}, Routes());
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.status().code(), StatusCode::kNotFound) << nowhere.status().ToString();
}

TEST(HttpServer, LeavesNoSocketToProgramsThatAreStarted) {
  const auto server = StartWith({});
  RawClient client(server->port());
  client.Send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.Receive("hello");
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone);
    if (!target.starts_with("socket:")) continue;
    const int descriptor = std::stoi(entry.path().filename());
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0) << target;
  }
}

TEST(HttpServer, CallsWhatIsDueEachSecond) {
  std::atomic<int> calls{0};
  const auto server = HttpServer::Start({.address = {},
                                         .each_second =
                                             [&] {
                                               if (++calls == 1) throw std::bad_alloc();
                                             }},
                                        Routes());
  ASSERT_TRUE(server.ok());
  while (calls < 2) std::this_thread::sleep_for(milliseconds(10));
}

}  // namespace
}  // namespace stoker::server_test
