// LineLink: lines of JSON over a socket, without ever waiting for the other side.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/cluster/tcp_internal.h"

namespace stoker {

// One thread at a time.
class LineLink {
 public:
  explicit LineLink(Socket socket);

  // -1 once it is closed.
  int descriptor() const { return socket_.get(); }
  bool open() const { return socket_.valid(); }
  // Whether Flush has something to do once the socket takes more.
  bool unsent() const { return !out_.empty(); }

  // Sends what the socket takes now, and keeps the rest for Flush. Drops the line where the other
  // side has not read for long, unless `must`.
  void Send(const Json& line, bool must = false);
  void Flush();
  // Says that nothing more will be sent; the other side gets what was sent before. What the socket
  // does not take now is sent by Flush.
  void EndSending();
  void Close() { socket_ = Socket(); }

  // Returns the lines that have arrived. Closes the socket when the other side has closed it, or
  // what it sends is no line of JSON; the lines before that are returned.
  std::vector<Json> Read();

 private:
  bool TakeLines(std::vector<Json>& lines);

  Socket socket_;
  std::string in_, out_;
  bool ends_ = false;
};

}  // namespace stoker
