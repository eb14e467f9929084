// How a handler answers a request: at once, later from another thread, or piece by piece.
#pragma once

#include <memory>
#include <string>

#include "stoker/http/message.h"

namespace stoker {

// What became of a piece that was written to a stream.
enum class StreamWrite {
  kTaken,   // it will be sent
  kFull,    // the client is too slow: so much waits for it that this piece was dropped
  kClosed,  // the client has gone, or the server stops; write no more
};

namespace internal {

// One stream, as the connection implements it. Thread-safe.
class StreamEnd {
 public:
  virtual ~StreamEnd() = default;
  virtual StreamWrite Write(std::string piece) = 0;
  virtual void End() = 0;
};

// One exchange of a request and its answer. Thread-safe.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void Send(HttpResponse response) = 0;
  virtual std::shared_ptr<StreamEnd> Begin(HttpResponse head) = 0;
};

}  // namespace internal

// An answer that is sent piece by piece. Copies are the same stream; when the last one is gone, the
// stream ends. Thread-safe; never blocks. May outlive the server.
class HttpStream {
 public:
  explicit HttpStream(std::shared_ptr<internal::StreamEnd> end) : end_(std::move(end)) {}

  StreamWrite Write(std::string piece) const { return end_->Write(std::move(piece)); }
  // Ends the answer after what was written so far.
  void End() const { end_->End(); }

 private:
  std::shared_ptr<internal::StreamEnd> end_;
};

// The right to answer one request, once: further answers are ignored. Copies are the same right;
// when the last one is gone without an answer, the client gets status 500. Thread-safe; never
// blocks. May outlive the server.
class HttpReply {
 public:
  explicit HttpReply(std::shared_ptr<internal::Exchange> exchange)
      : exchange_(std::move(exchange)) {}

  void Send(HttpResponse response) const { exchange_->Send(std::move(response)); }
  // Begins a stream whose status and headers are those of `head`; its body is not sent. The server
  // may refuse it because there are too many (status 503): then Write returns kClosed.
  HttpStream Stream(HttpResponse head) const {
    return HttpStream(exchange_->Begin(std::move(head)));
  }

 private:
  std::shared_ptr<internal::Exchange> exchange_;
};

}  // namespace stoker
