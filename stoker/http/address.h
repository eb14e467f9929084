// Addresses that a server listens on, and the names by which clients may call it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct HttpAddress {
  std::string host = "127.0.0.1";  // an IP address, IPv6 without brackets, or a name
  uint16_t port = 0;               // 0: any free one

  bool operator==(const HttpAddress&) const = default;
};

// Parses "[HOST:]PORT": "9090", ":9090", "localhost:9090", "0.0.0.0:9090", "[::1]:9090". Without a
// HOST it is 127.0.0.1. Looks up no name. Errors: kInvalidArgument, which shows the form.
Result<HttpAddress> ParseHttpAddress(std::string_view text);

// Returns whether `host` is an IP address (IPv6 without brackets) that only this machine reaches.
bool IsLoopback(std::string_view host);

// Returns whether `host` is an IP address.
bool IsIpAddress(std::string_view host);

// Returns "http://127.0.0.1:9090/", with brackets around IPv6.
std::string HttpUrl(std::string_view host, uint16_t port);

// The names of a server. A page of another site whose name is made to resolve to this machine (DNS
// rebinding) still names that site in the header Host, so requests under other names are refused.
class HttpNames {
 public:
  //   bound  the IP address that the server listens on
  //   names  the names of this machine, and the one by which the user asked for the address
  HttpNames(std::string_view bound, std::vector<std::string> names);

  // Returns whether a request with this header Host (or this authority of its target) means this
  // server: an IP address, of loopback alone if the server listens there, "localhost", a name below
  // it, or one of its names; with or without a port, which may be that of a tunnel.
  bool Allows(std::string_view host) const;

 private:
  bool only_loopback_;
  std::vector<std::string> names_;  // in lower case
};

}  // namespace stoker
