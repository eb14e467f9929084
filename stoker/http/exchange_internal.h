// Replies and streams, which any thread may use, in terms of a connection, which only the loop's
// thread may: each call becomes work for that thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "stoker/http/connection_internal.h"
#include "stoker/http/reply.h"

namespace stoker {

inline HttpResponse FailedHandler() {
  return {.status = 500, .body = "the server failed at this request\n"};
}

class PostedStream final : public internal::StreamEnd {
 public:
  PostedStream(std::weak_ptr<Connection> connection, std::shared_ptr<Loop> loop, uint64_t exchange,
               size_t most, std::shared_ptr<StreamBudget> budget)
      : connection_(std::move(connection)),
        loop_(std::move(loop)),
        exchange_(exchange),
        most_(most),
        budget_(std::move(budget)) {}
  ~PostedStream() override { Finish(); }

  StreamWrite Write(std::string piece) override {
    if (!budget_->open) return StreamWrite::kClosed;
    if (piece.empty()) return StreamWrite::kTaken;
    const size_t bytes = piece.size();
    if (budget_->queued.fetch_add(bytes) + bytes > most_) {
      budget_->queued -= bytes;
      return StreamWrite::kFull;
    }
    const bool posted =
        loop_->Post([connection = connection_, exchange = exchange_, piece = std::move(piece)] {
          if (const auto open = connection.lock())
            open->Do([&](Connection& self) { self.WriteStream(exchange, piece); });
        });
    return posted ? StreamWrite::kTaken : StreamWrite::kClosed;
  }

  void End() override { Finish(); }

 private:
  void Finish() {
    if (!budget_->open.exchange(false)) return;
    loop_->Post([connection = connection_, exchange = exchange_] {
      if (const auto open = connection.lock())
        open->Do([&](Connection& self) { self.EndStream(exchange); });
    });
  }

  const std::weak_ptr<Connection> connection_;
  const std::shared_ptr<Loop> loop_;
  const uint64_t exchange_;
  const size_t most_;
  const std::shared_ptr<StreamBudget> budget_;
};

class PostedExchange final : public internal::Exchange {
 public:
  PostedExchange(std::weak_ptr<Connection> connection, std::shared_ptr<Loop> loop,
                 uint64_t exchange, const HttpLimits& limits)
      : connection_(std::move(connection)),
        loop_(std::move(loop)),
        exchange_(exchange),
        most_(limits.stream_bytes) {}
  ~PostedExchange() override { Post(FailedHandler()); }

  void Send(HttpResponse response) override { Post(std::move(response)); }

  std::shared_ptr<internal::StreamEnd> Begin(HttpResponse head) override {
    auto budget = std::make_shared<StreamBudget>();
    if (answered_.exchange(true)) budget->open = false;
    auto stream = std::make_shared<PostedStream>(connection_, loop_, exchange_, most_, budget);
    if (!budget->open) return stream;
    const bool posted = loop_->Post(
        [connection = connection_, exchange = exchange_, head = std::move(head), budget] {
          if (const auto open = connection.lock())
            open->Do([&](Connection& self) { self.BeginStream(exchange, head, budget); });
          else
            budget->open = false;
        });
    if (!posted) budget->open = false;
    return stream;
  }

 private:
  void Post(HttpResponse response) {
    if (answered_.exchange(true)) return;
    loop_->Post([connection = connection_, exchange = exchange_, response = std::move(response)] {
      if (const auto open = connection.lock())
        open->Do([&](Connection& self) { self.Answer(exchange, response); });
    });
  }

  const std::weak_ptr<Connection> connection_;
  const std::shared_ptr<Loop> loop_;
  const uint64_t exchange_;
  const size_t most_;
  std::atomic<bool> answered_{false};
};

}  // namespace stoker
