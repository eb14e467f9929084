#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/base/testing.h"
#include "stoker/cluster/open_sockets_internal.h"
#include "stoker/cluster/tcp_internal.h"

namespace stoker::open_sockets_test {

// Two ends of a connection over the loopback.
struct Connection {
  Socket here, there;
};

Connection Connect() {
  const Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.get(), any, size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
  Socket here(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(here.get(), any, size), 0);
  return {std::move(here), Socket(::accept(listener.get(), nullptr, nullptr))};
}

TEST(OpenSockets, FindsConnectionsMadeSinceAndEndsThem) {
  STOKER_ASSERT_OK_AND_ASSIGN(const SocketList before, OpenSockets());
  const Connection connection = Connect();
  STOKER_ASSERT_OK_AND_ASSIGN(const SocketList since, OpenedSince(before));
  EXPECT_TRUE(since.contains(connection.here.get()));
  EXPECT_TRUE(since.contains(connection.there.get()));
  ShutDown(since);
  char byte = 0;
  EXPECT_EQ(::read(connection.here.get(), &byte, 1), 0);
  EXPECT_EQ(::read(connection.there.get(), &byte, 1), 0);
}

// Without a descriptor the others cannot be listed, which is no empty list.
TEST(OpenSockets, SaysSoWhereNoDescriptorIsLeft) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at types through a pipe, which it cannot open";
#endif
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const Socket highest(::dup(STDERR_FILENO));
  const rlimit none{.rlim_cur = static_cast<rlim_t>(highest.get()), .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status listed = OpenSockets().status();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(listed.code(), StatusCode::kResourceExhausted) << listed.ToString();
}

}  // namespace stoker::open_sockets_test
