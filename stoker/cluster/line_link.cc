#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "stoker/cluster/line_link_internal.h"

namespace stoker {
namespace {

constexpr size_t kMostUnsent = size_t{64} << 10;
constexpr size_t kLongestLine = size_t{1} << 20;
constexpr int kMostPieces = 64;

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

LineLink::LineLink(Socket socket) : socket_(std::move(socket)) {
  const int yes = 1;
  ::setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::fcntl(descriptor(), F_SETFL, ::fcntl(descriptor(), F_GETFL) | O_NONBLOCK);
}

void LineLink::Send(const Json& line, bool must) {
  if (!open() || (!must && out_.size() > kMostUnsent)) return;
  // A host or an error may be no UTF-8.
  out_ += line.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  Flush();
}

void LineLink::Flush() {
  while (open() && !out_.empty()) {
    const ssize_t sent =
        ::send(descriptor(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      out_.erase(0, static_cast<size_t>(sent));
      continue;
    }
    // Reading finds out what has become of it.
    if (sent < 0 && !WouldBlock(errno)) out_.clear();
    if (!out_.empty()) return;
  }
  if (ends_ && open()) ::shutdown(descriptor(), SHUT_WR);
}

void LineLink::EndSending() {
  ends_ = true;
  Flush();
}

std::vector<Json> LineLink::Read() {
  std::vector<Json> lines;
  std::array<char, 4096> buffer;
  // The rest of much is read at the next call, so that no link keeps the others waiting.
  for (int pieces = 0; open() && pieces < kMostPieces; ++pieces) {
    const ssize_t got = ::recv(descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && WouldBlock(errno)) break;
    if (got > 0) in_.append(buffer.data(), static_cast<size_t>(got));
    if (got <= 0 || !TakeLines(lines)) Close();
  }
  return lines;
}

// False where what has arrived makes no sense.
bool LineLink::TakeLines(std::vector<Json>& lines) {
  size_t begin = 0;
  for (size_t end; (end = in_.find('\n', begin)) != in_.npos; begin = end + 1) {
    Json line = Json::parse(in_.begin() + static_cast<std::ptrdiff_t>(begin),
                            in_.begin() + static_cast<std::ptrdiff_t>(end), nullptr,
                            /*allow_exceptions=*/false);
    if (!line.is_object()) return false;
    lines.push_back(std::move(line));
  }
  in_.erase(0, begin);
  return in_.size() <= kLongestLine;
}

}  // namespace stoker
