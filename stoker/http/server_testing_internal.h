// A server for its tests, and what they ask it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/http/reply.h"
#include "stoker/http/server.h"
#include "stoker/http/testing_internal.h"

namespace stoker {

inline constexpr std::string_view kGet =
    "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
inline constexpr std::string_view kHalf = "GET /hello HTTP/1.1\r\nHost: local";

inline std::vector<HttpRoute> Routes() {
  return {{.path = "/hello",
           .handler = [](const HttpRequest&, HttpReply reply) { reply.Send({.body = "hello"}); }},
          {.method = "POST",
           .path = "/echo",
           .handler = [](const HttpRequest& request,
                         HttpReply reply) { reply.Send({.body = request.body}); },
           .most_body_bytes = 1000},
          {.path = "/throws",
           .handler = [](const HttpRequest&, HttpReply) { throw std::runtime_error("secret"); }},
          {.path = "/forgets", .handler = [](const HttpRequest&, HttpReply) {}},
          {.path = "/large", .handler = [](const HttpRequest&, HttpReply reply) {
             reply.Send({.body = std::string(64 << 20, 'x')});
           }}};
}

inline std::unique_ptr<HttpServer> StartWith(HttpLimits limits,
                                             std::vector<HttpRoute> routes = Routes()) {
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::Start({.address = {}, .limits = limits}, std::move(routes));
  EXPECT_TRUE(server.ok()) << server.status().ToString();
  return *std::move(server);
}

inline std::string Ask(const HttpServer& server, std::string_view request) {
  RawClient client(server.port());
  client.Send(request);
  return client.Receive();
}

inline void ExpectServes(const HttpServer& server) {
  const std::string answer = Ask(server, kGet);
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\nhello"));
}

}  // namespace stoker
