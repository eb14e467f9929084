#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <limits>
#include <utility>

#include "stoker/http/connection_internal.h"
#include "stoker/http/exchange_internal.h"
#include "stoker/http/response_text_internal.h"

namespace stoker {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

// A client that has sent more than is read of it, such as a body that was refused, would lose the
// answer if the connection were closed at once.
constexpr size_t kMostDrained = 256 << 10;
constexpr std::chrono::seconds kDrainTime{1};
// A header and what a client sends after it in the same packets.
constexpr size_t kBufferBeyondHeader = 8 << 10;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

HttpResponse RefusalOf(const boost::beast::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return {.status = 431, .body = "the header is too long\n"};
  if (error == http::error::body_limit) return {.status = 413, .body = "the body is too long\n"};
  return {.status = 400, .body = "this is no request of HTTP/1.1\n"};
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, std::shared_ptr<ServerShare> share)
    : stream_(std::move(socket)),
      share_(std::move(share)),
      buffer_(share_->limits.header_bytes + kBufferBeyondHeader) {}

void Connection::Enter(State state) {
  state_ = state;
  since_ = Clock::now();
}

void Connection::ReadHeader() {
  if (share_->stopping) return Close();
  Enter(State::kReading);
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(share_->limits.header_bytes));
  // Until it is known who takes the body. (Beast 1.74 takes "no limit" for less than every length.)
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  stream_.expires_after(first_ ? share_->limits.header_time : share_->limits.idle_time);
  first_ = false;
  http::async_read_header(
      stream_, buffer_, *parser_,
      Then([](Connection& self, const Error& error, size_t) { self.OnHeader(error); }));
}

RequestHead Connection::HeadOfRequest() const {
  const auto& message = parser_->get();
  const auto text = [](const auto& view) { return std::string(view.data(), view.size()); };
  RequestHead head{.version = static_cast<int>(message.version()),
                   .method = text(message.method_string()),
                   .target = text(message.target()),
                   .chunked = parser_->chunked()};
  if (const auto length = parser_->content_length()) head.content_length = *length;
  for (const auto& field : message)
    head.headers.emplace_back(text(field.name_string()), text(field.value()));
  return head;
}

void Connection::OnHeader(const Error& error) {
  ++exchange_;
  if (error) return AfterFailedRead(error);
  const auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  head_only_ = message.method() == http::verb::head;
  chunks_ = message.version() >= 11;
  decision_ = share_->admission.Decide(HeadOfRequest());
  if (decision_.route == nullptr) {
    // Where the next request begins is known once the body was read, which nobody wants.
    keep_alive_ = keep_alive_ && parser_->is_done();
    return Write(decision_.refusal);
  }
  if (parser_->is_done()) return Dispatch();
  Enter(State::kBody);
  stream_.expires_after(share_->limits.body_time);
  if (chunks_ && beast::iequals(message[http::field::expect], "100-continue"))
    return TellToContinue();
  ReadBody();
}

void Connection::TellToContinue() {
  asio::async_write(stream_, asio::buffer(kContinue),
                    Then([](Connection& self, const Error& error, size_t) {
                      if (error) return self.Close();
                      self.ReadBody();
                    }));
}

void Connection::ReadBody() {
  parser_->body_limit(decision_.route->most_body_bytes);
  http::async_read(stream_, buffer_, *parser_,
                   Then([](Connection& self, const Error& error, size_t) {
                     if (error) return self.AfterFailedRead(error);
                     self.Dispatch();
                   }));
}

void Connection::AfterFailedRead(const Error& error) {
  const bool is_of_http =
      error.category() == http::make_error_code(http::error::bad_target).category();
  const bool has_gone =
      error == http::error::end_of_stream || error == http::error::partial_message;
  if (!is_of_http || has_gone) return Close();
  keep_alive_ = head_only_ = false;
  Write(RefusalOf(error));
}

void Connection::Dispatch() {
  Enter(State::kAnswering);
  stream_.expires_never();
  decision_.request.body = std::move(parser_->get().body());
  const auto exchange =
      std::make_shared<PostedExchange>(weak_from_this(), share_->loop, exchange_, share_->limits);
  try {
    decision_.route->handler(decision_.request, HttpReply(exchange));
  } catch (...) {
    exchange->Send(FailedHandler());
  }
}

void Connection::Answer(uint64_t exchange, HttpResponse response) {
  if (exchange != exchange_ || state_ != State::kAnswering) return;
  Write(response);
}

void Connection::Write(const HttpResponse& response) {
  Enter(State::kWriting);
  if (share_->stopping) keep_alive_ = false;
  sending_ = HeadText(response, {.length = response.body.size(), .keep_alive = keep_alive_});
  if (!head_only_) sending_ += response.body;
  stream_.expires_after(share_->limits.write_time);
  asio::async_write(
      stream_, asio::buffer(sending_),
      Then([](Connection& self, const Error& error, size_t) { self.AfterAnswer(error); }));
}

void Connection::AfterAnswer(const Error& error) {
  sending_.clear();
  if (error) return Close();
  if (keep_alive_ && !share_->stopping) return ReadHeader();
  Shut();
}

void Connection::BeginStream(uint64_t exchange, const HttpResponse& head,
                             const std::shared_ptr<StreamBudget>& budget) {
  if (exchange != exchange_ || state_ != State::kAnswering || share_->stopping ||
      share_->streams >= share_->limits.streams) {
    budget->open = false;
    HttpResponse refusal{.status = 503, .body = "too many listen already; try again later\n"};
    refusal.headers.emplace_back("Retry-After", "10");
    return Answer(exchange, std::move(refusal));
  }
  ++share_->streams;
  budget_ = budget;
  keep_alive_ = keep_alive_ && chunks_;
  Enter(State::kStreaming);
  pending_ = HeadText(head, {.length = {}, .chunked = chunks_, .keep_alive = keep_alive_});
  pending_payload_ = 0;
  writing_ = ended_ = false;
  NoteEndOfClient();
  if (head_only_) return EndStream(exchange);
  Pump();
}

void Connection::WriteStream(uint64_t exchange, const std::string& piece) {
  if (exchange != exchange_ || state_ != State::kStreaming || ended_) return;
  pending_ += chunks_ ? ChunkText(piece) : piece;
  pending_payload_ += piece.size();
  Pump();
}

void Connection::EndStream(uint64_t exchange) {
  if (exchange != exchange_ || state_ != State::kStreaming || ended_) return;
  ended_ = true;
  budget_->open = false;
  if (chunks_ && !head_only_) pending_ += kLastChunk;
  Pump();
}

// Sends what has gathered; while it is on its way more gathers.
void Connection::Pump() {
  if (writing_) return;
  if (pending_.empty()) {
    if (ended_) FinishStream();
    return;
  }
  writing_ = true;
  sending_ = std::exchange(pending_, {});
  sending_payload_ = std::exchange(pending_payload_, 0);
  stream_.expires_after(share_->limits.write_time);
  asio::async_write(stream_, asio::buffer(sending_),
                    Then([](Connection& self, const Error& error, size_t) {
                      self.writing_ = false;
                      self.budget_->queued -= self.sending_payload_;
                      self.stream_.expires_never();
                      if (error) return self.Close();
                      self.Pump();
                    }));
}

void Connection::FinishStream() {
  --share_->streams;
  budget_.reset();
  Enter(State::kWriting);
  AfterAnswer({});
}

// A client that leaves between two pieces would otherwise keep its place until the next one.
void Connection::NoteEndOfClient() {
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read,
      Then([exchange = exchange_](Connection& self, const Error& error, size_t) {
        if (error || self.state_ != State::kStreaming || self.exchange_ != exchange) return;
        char byte = 0;
        const ssize_t got =
            ::recv(self.stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        // Bytes of a next request wait for the stream's end.
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) self.Close();
      }));
}

void Connection::Shut() {
  Error ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  if (share_->stopping) return Close();
  Enter(State::kClosing);
  stream_.expires_after(kDrainTime);
  Drain(kMostDrained);
}

void Connection::Drain(size_t left) {
  stream_.async_read_some(asio::buffer(drained_),
                          Then([left](Connection& self, const Error& error, size_t bytes) {
                            if (error || bytes >= left) return self.Close();
                            self.Drain(left - bytes);
                          }));
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  if (state_ == State::kStreaming) --share_->streams;
  if (budget_) budget_->open = false;
  Enter(State::kClosed);
  Error ignored;
  stream_.socket().close(ignored);
  const auto self = shared_from_this();  // on_closed forgets it
  share_->on_closed(*this);
}

void Connection::EndForStop() {
  switch (state_) {
    case State::kWriting: keep_alive_ = false; return;
    case State::kStreaming: return EndStream(exchange_);
    default: return Close();
  }
}

}  // namespace stoker
