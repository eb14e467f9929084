// Opens the socket that a server listens on.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"
#include "stoker/http/address.h"
#include "stoker/io/descriptor.h"

namespace stoker {

struct ListeningSocket {
  Descriptor descriptor;
  std::string address;  // numeric
  uint16_t port = 0;
  bool six = false;  // IPv6
};

// Errors: those of HttpServer::Start.
//   with_token  whether requests must show one
Result<ListeningSocket> ListenOn(const HttpAddress& address, bool with_token);

}  // namespace stoker
