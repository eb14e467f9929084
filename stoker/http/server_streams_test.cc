#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/mutex.h"
#include "stoker/http/reply.h"
#include "stoker/http/server.h"
#include "stoker/http/server_testing_internal.h"
#include "stoker/http/testing_internal.h"

namespace stoker::server_streams_test {
namespace {

using std::chrono::hours;
using testing::HasSubstr;
using testing::StartsWith;

// Keeps the streams of /stream.
struct Streams {
  Mutex mutex;
  std::vector<HttpStream> all STOKER_GUARDED_BY(mutex);

  HttpRoute Route() {
    return {.path = "/stream", .handler = [this](const HttpRequest&, HttpReply reply) {
              HttpStream stream = reply.Stream({.content_type = "text/event-stream"});
              const MutexLock lock(mutex);
              all.push_back(std::move(stream));
            }};
  }
  size_t size() {
    const MutexLock lock(mutex);
    return all.size();
  }
  HttpStream at(size_t i) {
    const MutexLock lock(mutex);
    return all.at(i);
  }
};

constexpr std::string_view kStream = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(HttpServer, StreamsPieceByPieceAndGoesOnOnTheSameConnection) {
  Streams streams;
  const auto server = StartWith({}, {streams.Route(), Routes().front()});
  RawClient client(server->port());
  client.Send(kStream);
  while (streams.size() < 1) std::this_thread::yield();
  EXPECT_EQ(streams.at(0).Write("first"), StreamWrite::kTaken);
  EXPECT_THAT(client.Receive("5\r\nfirst\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(streams.at(0).Write("second"), StreamWrite::kTaken);
  streams.at(0).End();
  EXPECT_THAT(client.Receive("0\r\n\r\n"), HasSubstr("6\r\nsecond\r\n0\r\n\r\n"));
  EXPECT_EQ(streams.at(0).Write("third"), StreamWrite::kClosed);
  client.Forget();
  client.Send(kGet);
  EXPECT_THAT(client.Receive(), testing::EndsWith("\r\n\r\nhello"));
}

TEST(HttpServer, ToHttp10AStreamEndsWithTheConnection) {
  Streams streams;
  const auto server = StartWith({}, {streams.Route()});
  RawClient client(server->port());
  client.Send("GET /stream HTTP/1.0\r\n\r\n");
  while (streams.size() < 1) std::this_thread::yield();
  streams.at(0).Write("bare");
  streams.at(0).End();
  EXPECT_THAT(client.Receive(), testing::EndsWith("\r\n\r\nbare"));
}

TEST(HttpServer, APieceThatIsWrittenBeforeTheHandlerReturnsFollowsTheHead) {
  std::optional<HttpStream> kept;
  std::thread other;
  const auto server =
      StartWith({}, {{.path = "/stream", .handler = [&](const HttpRequest&, HttpReply reply) {
                        kept = reply.Stream({.content_type = "text/plain"});
                        other = std::thread([&kept] { kept->Write("early"); });
                        other.join();
                      }}});
  RawClient client(server->port());
  client.Send(kStream);
  EXPECT_THAT(client.Receive("early"), HasSubstr("5\r\nearly\r\n"));
}

TEST(HttpServer, AStreamThatIsNotReadIsBoundedAndOthersGetTheirs) {
  Streams streams;
  const auto server = StartWith({.stream_bytes = 100000}, {streams.Route()});
  RawClient slow(server->port()), quick(server->port());
  slow.Send(kStream);
  while (streams.size() < 1) std::this_thread::yield();
  quick.Send(kStream);
  while (streams.size() < 2) std::this_thread::yield();
  const std::string piece(50000, 'x');
  bool full = false;
  for (int i = 0; i < 100000 && !full; ++i) full = streams.at(0).Write(piece) == StreamWrite::kFull;
  EXPECT_TRUE(full);
  EXPECT_EQ(streams.at(1).Write("there"), StreamWrite::kTaken);
  EXPECT_THAT(quick.Receive("there"), HasSubstr("there"));
}

TEST(HttpServer, AStreamWhoseClientHasGoneIsClosed) {
  Streams streams;
  const auto server = StartWith({.streams = 1}, {streams.Route()});
  {
    RawClient client(server->port());
    client.Send(kStream);
    client.Receive("\r\n\r\n");
  }
  while (streams.at(0).Write("x") != StreamWrite::kClosed) std::this_thread::yield();
  // Its place is free again.
  RawClient next(server->port());
  next.Send(kStream);
  EXPECT_THAT(next.Receive("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, MoreStreamsThanAllowedAreRefused) {
  Streams streams;
  const auto server = StartWith({.streams = 1}, {streams.Route(), Routes().front()});
  RawClient first(server->port()), second(server->port());
  first.Send(kStream);
  first.Receive("\r\n\r\n");
  second.Send(kStream);
  EXPECT_THAT(second.Receive("later"), StartsWith("HTTP/1.1 503 "));
  ExpectServes(*server);
}

TEST(HttpServer, StopEndsStreamsAndWaitsForNobody) {
  Streams streams;
  auto server = StartWith({.header_time = hours(1), .write_time = hours(1)},
                          {streams.Route(), Routes().front(), Routes().back()});
  RawClient listener(server->port()), half(server->port()), idle(server->port()),
      slow(server->port());
  listener.Send(kStream);
  while (streams.size() < 1) std::this_thread::yield();
  half.Send(kHalf);
  slow.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ExpectServes(*server);
  const HttpStream stream = streams.at(0);
  stream.Write("the last words");
  const Stopwatch watch;
  server->Stop();
  EXPECT_LT(watch.ElapsedSeconds(), 20) << "a third of a second, where the machine is not busy";
  EXPECT_THAT(listener.Receive(), testing::EndsWith("the last words\r\n0\r\n\r\n"));
  for (RawClient* client : {&listener, &half, &idle, &slow}) {
    client->Receive();
    EXPECT_TRUE(client->ended());
  }
  EXPECT_FALSE(RawClient(server->port()).connected());
  EXPECT_EQ(stream.Write("more"), StreamWrite::kClosed);
  server.reset();
  stream.End();
}

}  // namespace
}  // namespace stoker::server_streams_test
