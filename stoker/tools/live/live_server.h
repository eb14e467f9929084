// LiveServer: serves what stands on a board, as page and as metrics, while a command runs.
//
//   STOKER_ASSIGN_OR_RETURN(const auto live, LiveServer::Start(arguments.serve, {.command =
//   "pack"})); if (live) live->board().Update(...);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/http/event_stream.h"
#include "stoker/http/server.h"
#include "stoker/tools/live/live_board.h"
#include "stoker/tools/live/live_facts.h"
#include "stoker/tools/live/serve_options.h"

namespace stoker {

class LiveServer {
 public:
  // Serves what the options ask for, and says where on standard error. Returns null if they ask for
  // nothing; then nothing is done at all. Errors: those of HttpServer::Start and of TokenOf, each
  // with the option.
  //   about  what is known so far
  static Result<std::unique_ptr<LiveServer>> Start(const ServeOptions& options, LiveFacts about);

  // Tells the pages that it has ended, and stops.
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  LiveBoard& board() { return board_; }

  // Sets what pages say once it has ended; "it has ended" otherwise. One thread.
  void EndsWith(std::string how) { how_ = std::move(how); }

 private:
  class Dashboard;

  explicit LiveServer(LiveFacts about);
  Status Serve(std::string_view option, const std::string& address, const std::string& token,
               std::vector<HttpRoute> routes, std::string_view page,
               std::function<void()> each_second);
  HttpRoute MetricsRoute();

  LiveBoard board_;
  std::string how_ = "it has ended";
  std::unique_ptr<Dashboard> dashboard_;
  std::vector<std::unique_ptr<HttpServer>> servers_;  // last: they use the members above
};

}  // namespace stoker
