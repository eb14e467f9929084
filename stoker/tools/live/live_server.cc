#include "stoker/tools/live/live_server.h"

#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/mutex.h"
#include "stoker/base/remote_path.h"
#include "stoker/http/address.h"
#include "stoker/http/reply.h"
#include "stoker/tools/live/dashboard_feed.h"
#include "stoker/tools/live/dashboard_page.h"
#include "stoker/tools/live/machine_usage.h"
#include "stoker/tools/live/metrics_page.h"
#include "stoker/tools/live/prometheus_text.h"

namespace stoker {
namespace {

Json AboutJson(const LiveFacts& facts) {
  return {{"command", facts.command},
          {"recipe", WithoutSecrets(facts.recipe)},
          {"version", STOKER_VERSION}};
}

// Port 0 is another free one each time.
Result<bool> AreOneAddress(const ServeOptions& options) {
  if (!options.metrics || !options.dashboard) return false;
  STOKER_ASSIGN_OR_RETURN(const HttpAddress metrics, ParseHttpAddress(*options.metrics));
  STOKER_ASSIGN_OR_RETURN(const HttpAddress dashboard, ParseHttpAddress(*options.dashboard));
  return metrics == dashboard && metrics.port != 0;
}

HttpResponse PageResponse() {
  const DashboardPage page = MakeDashboardPage();
  return {.content_type = "text/html; charset=utf-8",
          .body = page.html,
          .headers = {{"Content-Security-Policy", page.policy}}};
}

}  // namespace

// The page and its events. Thread-safe.
class LiveServer::Dashboard {
 public:
  explicit Dashboard(LiveBoard& board) : board_(board), feed_(AboutJson(board.Get())) {}

  std::vector<HttpRoute> Routes() {
    const HttpResponse page = PageResponse();
    return {{.path = "/",
             .handler = [page](const HttpRequest&, const HttpReply& reply) { reply.Send(page); },
             // The page itself holds nothing of a run; it asks for the token and shows it to
             // /events.
             .without_token = page},
            {.path = "/events", .handler = [this](const HttpRequest&, const HttpReply& reply) {
               const MutexLock lock(mutex_);
               listeners_.Add(reply.Stream(EventStreamHead()),
                              EventText("whole", DumpJson(feed_.Whole())));
             }}};
  }

  void Tick() {
    const MutexLock lock(mutex_);
    const Json tick = feed_.Tick(watch_.ElapsedSeconds(), board_.Get(), board_.TakeNew(),
                                 ReadMachineUsage(gpus_));
    listeners_.Send(EventText("tick", DumpJson(tick)));
  }

  void End(const std::string& how) {
    Tick();  // what happened in the last second
    listeners_.End(EventText("end", DumpJson({{"how", how}})));
  }

 private:
  LiveBoard& board_;
  const Stopwatch watch_;
  Mutex mutex_;
  const GpuMeter gpus_ STOKER_GUARDED_BY(mutex_);
  DashboardFeed feed_ STOKER_GUARDED_BY(mutex_);
  EventListeners listeners_;
};

LiveServer::LiveServer(LiveFacts about) : board_(std::move(about)) {}

LiveServer::~LiveServer() {
  if (dashboard_) dashboard_->End(how_);
}

HttpRoute LiveServer::MetricsRoute() {
  return {.path = "/metrics",
          .handler = [this, gpus = std::make_shared<const GpuMeter>()](const HttpRequest&,
                                                                       const HttpReply& reply) {
            reply.Send({.content_type = std::string(kPrometheusType),
                        .body = MetricsPage(board_.Get(), ReadMachineUsage(*gpus))});
          }};
}

Status LiveServer::Serve(std::string_view option, const std::string& address,
                         const std::string& token, std::vector<HttpRoute> routes,
                         std::string_view page, std::function<void()> each_second) {
  HttpOptions options{.token = token, .each_second = std::move(each_second)};
  STOKER_ASSIGN_OR_RETURN(options.address, ParseHttpAddress(address));
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(std::move(options), std::move(routes));
  if (!server.ok()) {
    return {server.status().code(), fmt::format("{} {}", option, server.status().message())};
  }
  LogInfo("{} at {}{}{}", option.substr(2), (*server)->url(), page,
          token.empty() ? "" : ", for those who show the token");
  servers_.push_back(*std::move(server));
  return OkStatus();
}

Result<std::unique_ptr<LiveServer>> LiveServer::Start(const ServeOptions& options,
                                                      LiveFacts about) {
  STOKER_ASSIGN_OR_RETURN(const std::string token, TokenOf(options));
  if (!options.any()) return std::unique_ptr<LiveServer>();
  std::unique_ptr<LiveServer> live(new LiveServer(std::move(about)));
  STOKER_ASSIGN_OR_RETURN(const bool together, AreOneAddress(options));
  if (options.metrics && !together) {
    STOKER_RETURN_IF_ERROR(
        live->Serve("--metrics", *options.metrics, token, {live->MetricsRoute()}, "metrics", {}));
  }
  if (options.dashboard) {
    live->dashboard_ = std::make_unique<Dashboard>(live->board_);
    std::vector<HttpRoute> routes = live->dashboard_->Routes();
    if (together) routes.push_back(live->MetricsRoute());
    STOKER_RETURN_IF_ERROR(live->Serve(
        "--dashboard", *options.dashboard, token, std::move(routes), together ? " and metrics" : "",
        [dashboard = live->dashboard_.get()] { dashboard->Tick(); }));
  }
  return live;
}

}  // namespace stoker
