// A small HTTP server in the test's own process. Only tests include it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/io/remote/remote_options.h"

namespace stoker {

struct LoopbackRequest {
  std::string method;                          // "GET"
  std::string target;                          // "/a?b"
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // of POST
};

struct LoopbackAnswer {
  int status = 200;
  std::vector<std::string> headers;  // "Name: value"; without Content-Length, which is added
  std::string body;
  std::optional<size_t> cut;  // bytes of the body after which the connection breaks
  bool silent = false;        // nothing is sent, and the connection stays open
  bool drips = false;         // sends the body a byte at a time, with pauses
  bool cut_head = false;      // the connection breaks before the head has ended
};

// Returns the answer of a correct server that has `content` under this tag.
inline LoopbackAnswer ServeContent(const LoopbackRequest& request, const std::string& content,
                                   const std::string& etag = "\"v1\"") {
  const auto match = request.headers.find("if-match");
  if (match != request.headers.end() && match->second != etag) return {.status = 412};
  const auto range = request.headers.find("range");
  const std::string tag = "ETag: " + etag;
  if (range == request.headers.end()) return {.headers = {tag}, .body = content};
  unsigned long long first = 0, last = 0;
  std::sscanf(range->second.c_str(), "bytes=%llu-%llu", &first, &last);
  const std::string size = std::to_string(content.size());
  if (first >= content.size())
    return {.status = 416, .headers = {tag, "Content-Range: bytes */" + size}};
  last = std::min<unsigned long long>(last, content.size() - 1);
  const std::string part = std::to_string(first) + "-" + std::to_string(last);
  return {.status = 206,
          .headers = {tag, "Content-Range: bytes " + part + "/" + size},
          .body = content.substr(first, last - first + 1)};
}

// Returns a parameter of the query of `target`, as it was sent; empty if there is none.
inline std::string ParameterOf(const std::string& target, const std::string& name) {
  const size_t begin = target.find_first_of("?&", 0);
  if (begin == target.npos) return "";
  const std::string query = "&" + target.substr(begin + 1);
  const size_t at = query.find("&" + name + "=");
  if (at == query.npos) return "";
  const size_t value = at + name.size() + 2;
  return query.substr(value, query.find('&', value) - value);
}

// Answers each request by `handler(request, number)`, numbered from 0, on a thread of each
// connection. Ends with its scope.
class LoopbackServer {
 public:
  using Handler = std::function<LoopbackAnswer(const LoopbackRequest&, int number)>;

  explicit LoopbackServer(Handler handler) : handler_(std::move(handler)) {
    ::setenv("no_proxy", "127.0.0.1", 1);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0) std::abort();
    ::getsockname(listener_, generic, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Accept(); });
  }
  ~LoopbackServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    {
      const MutexLock lock(mutex_);
      for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string root() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // Returns an address that no other test uses, because what is known of a file holds for the
  // process.
  std::string url(const std::string& name) const { return root() + "/" + name; }
  int requests() const {
    const MutexLock lock(mutex_);
    return requests_;
  }
  // Returns the bytes of bodies, those of broken answers included; counted before they are sent.
  size_t sent() const {
    const MutexLock lock(mutex_);
    return sent_;
  }

 private:
  void Accept() {
    while (true) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const MutexLock lock(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] { Serve(socket); });
    }
  }

  void Serve(int socket) {
    std::string held;
    while (true) {
      size_t end;
      while ((end = held.find("\r\n\r\n")) == held.npos) {
        char piece[4096];
        const ssize_t got = ::recv(socket, piece, sizeof(piece), 0);
        if (got <= 0) return;
        held.append(piece, static_cast<size_t>(got));
      }
      LoopbackRequest request = Parse(held.substr(0, end + 2));
      held.erase(0, end + 4);
      if (!ReceiveBody(socket, held, request)) return;
      int number;
      {
        const MutexLock lock(mutex_);
        number = requests_++;
      }
      const LoopbackAnswer answer = handler_(request, number);
      {
        const MutexLock lock(mutex_);
        sent_ += answer.cut.value_or(answer.body.size());
      }
      if (!Answer(socket, answer)) return;
    }
  }

  static bool ReceiveBody(int socket, std::string& held, LoopbackRequest& request) {
    const auto length = request.headers.find("content-length");
    if (length == request.headers.end()) return true;
    const size_t size = std::stoul(length->second);
    while (held.size() < size) {
      char piece[4096];
      const ssize_t got = ::recv(socket, piece, sizeof(piece), 0);
      if (got <= 0) return false;
      held.append(piece, static_cast<size_t>(got));
    }
    request.body = held.substr(0, size);
    held.erase(0, size);
    return true;
  }

  static LoopbackRequest Parse(const std::string& text) {
    LoopbackRequest request;
    const size_t blank = text.find(' ');
    request.method = text.substr(0, blank);
    request.target = text.substr(blank + 1, text.find(' ', blank + 1) - blank - 1);
    for (size_t at = text.find("\r\n") + 2; at < text.size();) {
      const size_t end = text.find("\r\n", at);
      const size_t colon = text.find(": ", at);
      std::string name = text.substr(at, colon - at);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      request.headers[name] = text.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    return request;
  }

  // Waits until the client or the end of the server closes the connection.
  static void WaitForEnd(int socket) {
    char piece[4096];
    while (::recv(socket, piece, sizeof(piece), 0) > 0) {
    }
  }

  static bool Drip(int socket, const std::string& body) {
    for (const char c : body) {
      if (::send(socket, &c, 1, MSG_NOSIGNAL) != 1) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  // Returns false if the connection is to break.
  static bool Answer(int socket, const LoopbackAnswer& answer) {
    if (answer.silent) {
      WaitForEnd(socket);
      return false;
    }
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " Said\r\n";
    for (const std::string& header : answer.headers) text += header + "\r\n";
    const bool said = std::ranges::any_of(answer.headers, [](const std::string& header) {
      return header.starts_with("Content-Length") || header.starts_with("Transfer-Encoding");
    });
    if (!said) text += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    if (!answer.cut_head) text += "\r\n";
    if (!answer.drips && !answer.cut_head)
      text += answer.body.substr(0, answer.cut.value_or(answer.body.size()));
    for (size_t at = 0; at < text.size();) {
      const ssize_t sent = ::send(socket, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<size_t>(sent);
    }
    if (answer.drips) return Drip(socket, answer.body);
    const bool breaks = answer.cut || answer.cut_head;
    if (breaks) ::shutdown(socket, SHUT_RDWR);
    return !breaks;
  }

  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
  mutable Mutex mutex_;
  int requests_ STOKER_GUARDED_BY(mutex_) = 0;
  size_t sent_ STOKER_GUARDED_BY(mutex_) = 0;
  std::vector<int> sockets_ STOKER_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ STOKER_GUARDED_BY(mutex_);
};

// Other settings during a test; retries follow each other at once.
class ScopedRemoteOptions {
 public:
  explicit ScopedRemoteOptions(RemoteOptions options = {}) {
    options.retry_wait = 0.001;
    SetRemoteOptions(std::move(options));
  }
  ~ScopedRemoteOptions() { SetRemoteOptions(RemoteOptions()); }
  ScopedRemoteOptions(const ScopedRemoteOptions&) = delete;
  ScopedRemoteOptions& operator=(const ScopedRemoteOptions&) = delete;
};

// Returns bytes that encode their position.
inline std::string NumberedBytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace stoker
