// One connection of a client, on the loop's thread: reads a request, has it answered, and again.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "stoker/http/admission_internal.h"
#include "stoker/http/loop_internal.h"
#include "stoker/http/server.h"

namespace stoker {

class Connection;

// What the connections of a server share. Touched by the loop's thread alone, except `loop`.
struct ServerShare {
  HttpLimits limits;
  Admission admission;
  std::shared_ptr<Loop> loop;
  std::function<void(Connection&)> on_closed;
  int streams = 0;
  bool stopping = false;
};

// How much of a stream waits to be sent; seen by the writing threads too.
struct StreamBudget {
  std::atomic<size_t> queued{0};
  std::atomic<bool> open{true};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State {
    kReading,    // waits for a header, the first or a further one
    kBody,       // reads a body
    kAnswering,  // a handler has the request
    kWriting,    // sends an answer
    kStreaming,  // sends an answer piece by piece
    kClosing,    // waits for the client to have read the last answer
    kClosed,
  };

  Connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<ServerShare> share);

  void Start() { ReadHeader(); }
  // Ends it at once; what is being sent is cut short.
  void Close();
  // The server stops: lets an answer that has begun come to its end, and ends streams.
  void EndForStop();

  // Whether it may make room for another client, and since when it has been so.
  bool MayGo() const { return state_ != State::kAnswering && state_ != State::kStreaming; }
  Clock::time_point since() const { return since_; }

  // Calls `step` with this connection; what it throws, for want of memory, ends the connection.
  template <typename Step>
  void Do(const Step& step) {
    try {
      step(*this);
    } catch (...) {
      Close();
    }
  }

  // Called for a reply or a stream, and ignored unless it is the one of the present request.
  void Answer(uint64_t exchange, HttpResponse response);
  void BeginStream(uint64_t exchange, const HttpResponse& head,
                   const std::shared_ptr<StreamBudget>& budget);
  void WriteStream(uint64_t exchange, const std::string& piece);
  void EndStream(uint64_t exchange);

 private:
  using Error = boost::beast::error_code;

  // What is done when an operation has ended: step(connection, error, bytes), unless the connection
  // was closed meanwhile.
  template <typename Step>
  auto Then(Step step) {
    return
        [self = shared_from_this(), step = std::move(step)](const Error& error, size_t bytes = 0) {
          if (self->state_ == State::kClosed) return;
          self->Do([&](Connection& connection) { step(connection, error, bytes); });
        };
  }
  void Enter(State state);
  void ReadHeader();
  void OnHeader(const Error& error);
  void TellToContinue();
  void ReadBody();
  void AfterFailedRead(const Error& error);
  RequestHead HeadOfRequest() const;
  void Dispatch();
  void Write(const HttpResponse& response);
  void AfterAnswer(const Error& error);
  void Pump();
  void FinishStream();
  void NoteEndOfClient();
  void Shut();
  void Drain(size_t left);

  boost::beast::tcp_stream stream_;
  const std::shared_ptr<ServerShare> share_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  AdmissionResult decision_;
  State state_ = State::kReading;
  Clock::time_point since_ = Clock::now();
  uint64_t exchange_ = 0;  // number of the present request
  bool first_ = true;
  bool keep_alive_ = false;
  bool head_only_ = false;  // the method is HEAD
  bool chunks_ = false;     // the client understands them

  std::string sending_;
  // Of a stream.
  std::shared_ptr<StreamBudget> budget_;
  std::string pending_;         // as it will be sent, after `sending_`
  size_t pending_payload_ = 0;  // bytes of pieces in it
  size_t sending_payload_ = 0;
  bool writing_ = false, ended_ = false;
  std::array<char, 4096> drained_ = {};
};

}  // namespace stoker
