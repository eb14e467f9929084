#include "stoker/http/server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <utility>

#include "stoker/base/worker_group.h"
#include "stoker/http/listen_internal.h"
#include "stoker/http/server_core_internal.h"

namespace stoker {
namespace {

namespace asio = boost::asio;

constexpr int kFewestConnections = 4;

// What is left is for the data, the run and its checkpoints.
int MostConnections(int wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t quarter = std::min<rlim_t>(limit.rlim_cur / 4, 1 << 20);
  return std::max(kFewestConnections, std::min(wanted, static_cast<int>(quarter)));
}

std::vector<std::string> NamesOf(const HttpAddress& address) {
  std::vector<std::string> names;
  if (!IsIpAddress(address.host)) names.push_back(address.host);
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0 && host[0] != '\0') names.emplace_back(host);
  return names;
}

// Nobody can open a page at "all addresses".
std::string HostForBrowser(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  return address == "::" ? "::1" : address;
}

}  // namespace

class HttpServer::Impl {
 public:
  static Result<std::unique_ptr<Impl>> Start(HttpOptions options, std::vector<HttpRoute> routes) {
    STOKER_ASSIGN_OR_RETURN(ListeningSocket socket,
                            ListenOn(options.address, !options.token.empty()));
    auto impl = std::make_unique<Impl>();
    impl->port = socket.port;
    impl->url = HttpUrl(HostForBrowser(socket.address), socket.port);
    STOKER_RETURN_IF_ERROR(impl->Open(std::move(options), std::move(routes), std::move(socket)));
    return impl;
  }

  void Stop() {
    if (stopped_.exchange(true)) return;
    loop_->Post([this] { core_->BeginStop(); });
    thread_.Join();
    loop_->Close();
    core_->CloseAll();
    // What was cancelled still holds its connection.
    loop_->io().restart();
    loop_->io().poll();
    core_.reset();
  }

  uint16_t port = 0;
  std::string url;

 private:
  Status Open(HttpOptions options, std::vector<HttpRoute> routes, ListeningSocket socket) {
    std::optional<TokenCheck> token;
    if (!options.token.empty()) token.emplace(options.token);
    HttpNames names(socket.address, NamesOf(options.address));
    auto share = std::make_shared<ServerShare>(
        ServerShare{.limits = options.limits,
                    .admission = Admission(std::move(routes), std::move(names), std::move(token)),
                    .loop = loop_,
                    .on_closed = {}});
    asio::ip::tcp::acceptor acceptor(loop_->io());
    boost::system::error_code error;
    acceptor.assign(socket.six ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), socket.descriptor.get(),
                    error);
    if (error) return ErrnoStatus(error.value(), url);
    static_cast<void>(socket.descriptor.Release());  // the acceptor's from now on
    core_ = std::make_unique<ServerCore>(std::move(acceptor), std::move(share),
                                         MostConnections(options.limits.connections),
                                         std::move(options.each_second));
    loop_->Post([core = core_.get()] { core->Begin(); });
    STOKER_ASSIGN_OR_RETURN(thread_, WorkerGroup::Start(1, "http", [this](int) { Run(); }));
    return OkStatus();
  }

  // Whatever is thrown here, such as for want of memory, costs one request and not the run.
  void Run() {
    const auto work = asio::make_work_guard(loop_->io());
    while (!loop_->io().stopped()) {
      try {
        loop_->io().run();
      } catch (...) {
      }
    }
  }

  std::shared_ptr<Loop> loop_ = std::make_shared<Loop>();
  std::unique_ptr<ServerCore> core_;
  std::atomic<bool> stopped_{false};
  WorkerGroup thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { Stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpOptions options,
                                                      std::vector<HttpRoute> routes) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl,
                          Impl::Start(std::move(options), std::move(routes)));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::Stop() { impl_->Stop(); }
uint16_t HttpServer::port() const { return impl_->port; }
std::string HttpServer::url() const { return impl_->url; }

}  // namespace stoker
