#include "stoker/io/remote/http_client.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/per_process.h"
#include "stoker/base/trace.h"
#include "stoker/io/remote/libcurl_internal.h"

namespace stoker {
namespace {

// REQUIRES: FindLibcurl() succeeded.
const Libcurl& Curl() { return *FindLibcurl(); }

constexpr size_t kMostText = 16 << 10;
constexpr long kReceiveBytes = 512 << 10;  // libcurl's most
constexpr long kMostRedirects = 8;

struct Closer {
  void operator()(CURL* easy) const { Curl().easy_cleanup(easy); }
  void operator()(curl_slist* list) const { Curl().slist_free_all(list); }
};
struct MultiCloser {
  void operator()(CURLM* multi) const { Curl().multi_cleanup(multi); }
};

// A connection, or a few, with what is reused of them. The easy handle goes first.
struct Handle {
  std::unique_ptr<CURLM, MultiCloser> multi{Curl().multi_init()};
  std::unique_ptr<CURL, Closer> easy{Curl().easy_init()};
};

// Idle handles; the one used last is taken first, since its connection is the likeliest to be open.
class Handles {
 public:
  static Handles& Shared() {
    static PerProcess<Handles> handles;
    return handles.Get();
  }
  Handles() { Curl().global_init(CURL_GLOBAL_DEFAULT); }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  std::unique_ptr<Handle> Take() {
    const MutexLock lock(mutex_);
    if (idle_.empty()) return std::make_unique<Handle>();
    std::unique_ptr<Handle> handle = std::move(idle_.back());
    idle_.pop_back();
    return handle;
  }
  void Return(std::unique_ptr<Handle> handle) {
    constexpr size_t kMostIdle = 64;
    const MutexLock lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(handle));
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_ STOKER_GUARDED_BY(mutex_);
};

// What the callbacks of one request share.
struct Exchange {
  HttpSink& sink;
  HttpAnswer answer;
  bool begun = false;
  bool refused = false;     // by the sink
  bool head_ended = false;  // libcurl takes a head that breaks off for a whole one without a body
  bool body_begun = false;
  double timeout = 0;  // seconds that the text of an answer without success may take
  Stopwatch since_body = {};
  bool has_text = false;  // enough of such a text, which the server may never end
};

bool IsSuccess(const HttpHead& head) { return head.status / 100 == 2; }

size_t OnHeadLine(char* data, size_t size, size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const std::string_view line(data, size * count);
  // Once a head has ended, only the head of a further answer follows, or fields after the body of a
  // chunked one (RFC 9112, section 7.1.2), which say nothing of the file.
  const bool begins = line.starts_with("HTTP/");
  if (exchange.body_begun || (exchange.head_ended && !begins)) return size * count;
  exchange.head_ended = line == "\r\n" || line == "\n";
  TakeHeadLine(line, exchange.answer.head);
  return size * count;
}

bool Begin(Exchange& exchange) {
  if (!exchange.begun) exchange.refused = !exchange.sink.Begin(exchange.answer.head);
  exchange.begun = true;
  return !exchange.refused;
}

size_t OnBody(char* data, size_t size, size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const size_t bytes = size * count;
  if (!exchange.body_begun) exchange.since_body = Stopwatch();
  exchange.body_begun = true;
  if (!IsSuccess(exchange.answer.head)) {
    std::string& text = exchange.answer.text;
    text.append(data, std::min(bytes, kMostText - text.size()));
    exchange.has_text =
        text.size() == kMostText || exchange.since_body.ElapsedSeconds() > exchange.timeout;
    return exchange.has_text ? CURL_WRITEFUNC_ERROR : bytes;
  }
  if (exchange.answer.head.broken_length || !Begin(exchange)) return CURL_WRITEFUNC_ERROR;
  exchange.refused = !exchange.sink.Take(std::as_bytes(std::span(data, bytes)));
  return exchange.refused ? CURL_WRITEFUNC_ERROR : bytes;
}

// "HOST:PORT" of the address that the request came to.
std::string ServerOf(CURL* easy) {
  const char* url = nullptr;
  if (Curl().easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || url == nullptr)
    return "";
  std::string_view server(url);
  const size_t scheme = server.find("://");
  if (scheme != server.npos) server.remove_prefix(scheme + 3);
  server = server.substr(0, server.find_first_of("/?#"));
  const size_t user = server.rfind('@');
  return std::string(user == server.npos ? server : server.substr(user + 1));
}

const char* FirstSet(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return nullptr;
}

// Nothing else, such as file:, neither at first nor after a redirect.
void AllowProtocols(CURL* easy, bool stays_secure) {
  const Libcurl& curl = Curl();
  if (curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK) {
    curl.easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, stays_secure ? "https" : "http,https");
    return;
  }
  // A libcurl before 7.85 has numbers in place of names, in options that later headers deprecate.
  constexpr auto kProtocols = static_cast<CURLoption>(CURLOPTTYPE_LONG + 181);
  constexpr auto kRedirectProtocols = static_cast<CURLoption>(CURLOPTTYPE_LONG + 182);
  curl.easy_setopt(easy, kProtocols, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
  curl.easy_setopt(easy, kRedirectProtocols,
                   stays_secure ? long{CURLPROTO_HTTPS} : long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
}

void Configure(CURL* easy, const ClientRequest& request, curl_slist* headers, Exchange& exchange,
               char* problem) {
  const Libcurl& curl = Curl();
  curl.easy_reset(easy);  // keeps the connections
  curl.easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  if (!request.body.empty()) {
    curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body.c_str());
  }
  // A request that brings its own credentials, and so takes none of ~/.netrc, does not leave HTTPS.
  const bool stays_secure = !request.netrc && request.url.starts_with("https:");
  AllowProtocols(easy, stays_secure);
  curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  curl.easy_setopt(easy, CURLOPT_MAXREDIRS, kMostRedirects);
  curl.easy_setopt(easy, CURLOPT_NETRC, request.netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED);
  curl.easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // a key of S3 may have ".." in it
  // Several connections carry more than one that is shared: HTTP/2 would make them one.
  curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl.easy_setopt(easy, CURLOPT_BUFFERSIZE, kReceiveBytes);
  curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // A request that ends while a name is looked up does not wait for the thread that does so.
  curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl.easy_setopt(easy, CURLOPT_USERAGENT, "stoker");
  curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.timeout * 1000));
  curl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                   std::max(1L, static_cast<long>(request.timeout + 0.5)));
  curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
  curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeadLine);
  curl.easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl.easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  if (const char* bundle = FirstSet({"CURL_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE"}))
    curl.easy_setopt(easy, CURLOPT_CAINFO, bundle);
}

// Until the answer is there or `cancel` says so.
CURLcode Run(const Handle& handle, Cancellation* cancel) {
  const TraceSpan span("ask a server");
  CURLM* const multi = handle.multi.get();
  if (Curl().multi_add_handle(multi, handle.easy.get()) != CURLM_OK) return CURLE_FAILED_INIT;
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  const auto wait_ms = static_cast<int>((cancel ? cancel->Patience() : kLongestPatience).count());
  {
    const WakeScope scope(cancel, [multi] { Curl().multi_wakeup(multi); });
    int running = 1;
    while (running > 0 && (cancel == nullptr || !cancel->cancelled())) {
      if (Curl().multi_perform(multi, &running) != CURLM_OK) break;
      if (running > 0) Curl().multi_poll(multi, nullptr, 0, wait_ms, nullptr);
    }
    int left = 0;
    while (const CURLMsg* message = Curl().multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
  }
  Curl().multi_remove_handle(multi, handle.easy.get());
  return code;
}

bool IsLasting(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_FAILED_INIT:
    case CURLE_OUT_OF_MEMORY: return true;
    default: return false;
  }
}

void Judge(CURLcode code, const char* problem, Exchange& exchange) {
  HttpAnswer& answer = exchange.answer;
  if (answer.head.broken_length) {
    // The end of such an answer is unknown: libcurl takes some of them for empty.
    answer.problem = "the answer has a Content-Length that is no length";
    return;
  }
  if (code == CURLE_OK && !exchange.head_ended) {
    answer.problem = "the connection broke off in the head of the answer";
    return;
  }
  if (code == CURLE_OK || exchange.refused || exchange.has_text) return;
  answer.problem = *problem != '\0' ? problem : Curl().easy_strerror(code);
  answer.lasting = IsLasting(code);
  answer.unreachable = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
                       code == CURLE_COULDNT_RESOLVE_PROXY;
}

}  // namespace

void PrepareHttp() {
  if (FindLibcurl().ok()) Handles::Shared();
}

HttpAnswer PerformHttp(const ClientRequest& request, HttpSink& sink, Cancellation* cancel) {
  if (const Result<Libcurl>& curl = FindLibcurl(); !curl.ok())
    return {.problem = curl.status().message(), .lasting = true};
  std::unique_ptr<Handle> handle = Handles::Shared().Take();
  Exchange exchange{.sink = sink, .answer = {}, .timeout = request.timeout};
  if (!handle->easy || !handle->multi) {
    exchange.answer.problem = "no memory for a connection";
    exchange.answer.lasting = true;
    return std::move(exchange.answer);
  }
  std::unique_ptr<curl_slist, Closer> headers;
  for (const std::string& header : request.headers) {
    // On success the list begins where it did, or here if it was empty.
    curl_slist* const longer = Curl().slist_append(headers.get(), header.c_str());
    if (longer != nullptr && !headers) headers.reset(longer);
  }
  char problem[CURL_ERROR_SIZE] = "";
  Configure(handle->easy.get(), request, headers.get(), exchange, problem);
  const CURLcode code = Run(*handle, cancel);
  const HttpHead& head = exchange.answer.head;
  if (code == CURLE_OK && exchange.head_ended && IsSuccess(head) && !head.broken_length)
    Begin(exchange);  // an empty body
  Judge(code, problem, exchange);
  exchange.answer.server = ServerOf(handle->easy.get());
  Handles::Shared().Return(std::move(handle));
  return std::move(exchange.answer);
}

}  // namespace stoker
