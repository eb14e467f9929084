#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/http/server_core_internal.h"

namespace stoker {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// So many are accepted before those that are there have their turn.
constexpr int kAcceptsAtOnce = 32;
constexpr std::chrono::milliseconds kRetry{100};
constexpr std::chrono::milliseconds kLastAnswers{333};

}  // namespace

ServerCore::ServerCore(asio::ip::tcp::acceptor acceptor, std::shared_ptr<ServerShare> share,
                       int most, std::function<void()> each_second)
    : acceptor_(std::move(acceptor)),
      share_(std::move(share)),
      most_(static_cast<size_t>(most)),
      each_second_(std::move(each_second)),
      room_(share_->loop->io()),
      second_(share_->loop->io()),
      end_(share_->loop->io()) {
  share_->on_closed = [this](Connection& connection) { Closed(connection); };
}

void ServerCore::Begin() {
  WaitForClients();
  if (each_second_) WaitForSecond();
}

void ServerCore::WaitForSecond() {
  second_.expires_after(std::chrono::seconds(1));
  second_.async_wait([this](const error_code& error) {
    if (error || share_->stopping) return;
    try {
      each_second_();
    } catch (...) {
      // What could not be made now is made a second later.
    }
    WaitForSecond();
  });
}

void ServerCore::WaitForClients() {
  acceptor_.async_wait(asio::ip::tcp::acceptor::wait_read, [this](const error_code& error) {
    if (!error && !share_->stopping) AcceptSome();
  });
}

void ServerCore::AcceptSome() {
  try {
    if (TakeSome()) WaitForClients();
  } catch (...) {
    RetryAfter(kRetry);  // no memory
  }
}

// Returns whether all who wanted in for now are in; if not, AcceptSome will be called again.
bool ServerCore::TakeSome() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    if (connections_.size() >= most_ && !MakeRoom()) return false;
    // Not with Asio, whose sockets a started program would inherit.
    const int descriptor =
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      Add(descriptor);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO) {
      RetryAfter(kRetry);  // no descriptor, or no memory
      return false;
    }
  }
  return true;
}

// Closes the connection that has been the longest in its request or in reading its answer. False:
// there is none that may go yet, and AcceptSome will be called again.
bool ServerCore::MakeRoom() {
  Connection* oldest = nullptr;
  for (const auto& [key, connection] : connections_) {
    if (connection->MayGo() && (oldest == nullptr || connection->since() < oldest->since()))
      oldest = connection.get();
  }
  if (oldest == nullptr) {
    RetryAfter(kRetry);
    return false;
  }
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Connection::Clock::now() -
                                                                         oldest->since());
  if (age < share_->limits.grace) {
    RetryAfter(share_->limits.grace - age);
    return false;
  }
  oldest->Close();
  return true;
}

void ServerCore::RetryAfter(std::chrono::milliseconds time) {
  waits_for_room_ = true;
  room_.expires_after(time);
  room_.async_wait([this](const error_code&) {
    waits_for_room_ = false;
    if (!share_->stopping) AcceptSome();
  });
}

void ServerCore::Add(int descriptor) {
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  asio::ip::tcp::socket socket(share_->loop->io());
  error_code error;
  socket.assign(acceptor_.local_endpoint(error).protocol(), descriptor, error);
  if (error) {
    ::close(descriptor);
    return;
  }
  const auto connection = std::make_shared<Connection>(std::move(socket), share_);
  connections_.emplace(connection.get(), connection);
  connection->Start();
}

void ServerCore::Closed(Connection& connection) {
  connections_.erase(&connection);
  if (waits_for_room_) room_.cancel();
  if (share_->stopping && connections_.empty()) share_->loop->io().stop();
}

void ServerCore::StopTaking() {
  share_->stopping = true;
  error_code ignored;
  acceptor_.close(ignored);
  room_.cancel();
  second_.cancel();
}

void ServerCore::BeginStop() {
  StopTaking();
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [key, connection] : connections_) all.push_back(connection);
  for (const auto& connection : all) connection->EndForStop();
  if (connections_.empty()) return share_->loop->io().stop();
  end_.expires_after(kLastAnswers);
  end_.async_wait([this](const error_code& error) {
    if (!error) share_->loop->io().stop();
  });
}

void ServerCore::CloseAll() {
  StopTaking();
  while (!connections_.empty()) connections_.begin()->second->Close();
  end_.cancel();
}

}  // namespace stoker
