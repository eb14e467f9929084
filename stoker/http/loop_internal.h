// The event loop of a server, as replies and streams reach it from other threads.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <functional>
#include <utility>

#include "stoker/base/mutex.h"

namespace stoker {

// Outlives the server as long as a reply or a stream has a share of it.
class Loop {
 public:
  // Runs `work` on the loop's thread, later, and after all that was posted before, by whichever
  // thread. Returns false after Close: then it never runs.
  template <typename Work>
  bool Post(Work work) {
    const MutexLock lock(mutex_);
    if (closed_) return false;
    posted_.push_back(std::move(work));
    // What the loop's own thread posts asio would run after what others post meanwhile: the pieces
    // of a stream before its head.
    boost::asio::post(io_, [this] { RunNext(); });
    return true;
  }

  void Close() {
    const MutexLock lock(mutex_);
    closed_ = true;
  }

  // For the server's thread, and for the one that ends it afterwards.
  boost::asio::io_context& io() { return io_; }

 private:
  void RunNext() {
    std::function<void()> next;
    {
      const MutexLock lock(mutex_);
      next = std::move(posted_.front());
      posted_.pop_front();
    }
    next();
  }

  boost::asio::io_context io_{1};
  Mutex mutex_;
  std::deque<std::function<void()>> posted_ STOKER_GUARDED_BY(mutex_);
  bool closed_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
