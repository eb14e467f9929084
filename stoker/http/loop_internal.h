// The event loop of a server, as replies and streams reach it from other threads.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "stoker/base/mutex.h"

namespace stoker {

// Outlives the server as long as a reply or a stream has a share of it.
class Loop {
 public:
  // Runs `work` on the loop's thread, later. Returns false after Close: then it never runs.
  template <typename Work>
  bool Post(Work work) {
    const MutexLock lock(mutex_);
    if (closed_) return false;
    boost::asio::post(io_, std::move(work));
    return true;
  }

  void Close() {
    const MutexLock lock(mutex_);
    closed_ = true;
  }

  // For the server's thread, and for the one that ends it afterwards.
  boost::asio::io_context& io() { return io_; }

 private:
  boost::asio::io_context io_{1};
  Mutex mutex_;
  bool closed_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
