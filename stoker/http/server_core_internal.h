// The server on the loop's thread: takes connections, and makes room for new ones.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "stoker/http/connection_internal.h"

namespace stoker {

// One thread, which is that of the loop from Begin to its end.
class ServerCore {
 public:
  //   most  connections at a time
  ServerCore(boost::asio::ip::tcp::acceptor acceptor, std::shared_ptr<ServerShare> share, int most,
             std::function<void()> each_second);

  // Begins to take clients. Call it on the loop's thread.
  void Begin();
  // Ends all; the loop stops when the last connection has, or after a third of a second.
  void BeginStop();
  // Call it when the loop has stopped.
  void CloseAll();

 private:
  void WaitForClients();
  void AcceptSome();
  bool TakeSome();
  bool MakeRoom();
  void RetryAfter(std::chrono::milliseconds time);
  void Add(int descriptor);
  void Closed(Connection& connection);
  void WaitForSecond();
  void StopTaking();

  boost::asio::ip::tcp::acceptor acceptor_;
  const std::shared_ptr<ServerShare> share_;
  const size_t most_;
  const std::function<void()> each_second_;
  boost::asio::steady_timer room_, second_, end_;
  bool waits_for_room_ = false;
  std::map<const Connection*, std::shared_ptr<Connection>> connections_;
};

}  // namespace stoker
