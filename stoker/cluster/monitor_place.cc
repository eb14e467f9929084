#include <fmt/format.h>

#include <random>

#include "stoker/base/json.h"
#include "stoker/base/stop_scope.h"
#include "stoker/cluster/monitor_place_internal.h"
#include "stoker/cluster/rendezvous_internal.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kPlaceKey = "monitor";
constexpr milliseconds kReachWithin{5000};
constexpr double kSecondsBetweenLooks = 0.02;

std::string NewToken() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Waits for what rank 0 has written.
Result<Json> ReadPlace(c10d::Store& store, milliseconds timeout, const std::string& host) {
  const auto until = steady_clock::now() + timeout;
  try {
    while (!store.check({kPlaceKey})) {
      if (steady_clock::now() >= until)
        return Unavailable("rank 0 on {} does not begin to listen", host);
      if (!SleepUnlessStopped(kSecondsBetweenLooks))
        return Cancelled("stopped while waiting for rank 0 on {}", host);
    }
    return Json::parse(store.get_to_str(kPlaceKey));
  } catch (...) {
    return Unavailable("finding where rank 0 on {} listens: {}", host, CaughtText());
  }
}

}  // namespace

Result<MonitorListener> ListenForMonitors(c10d::Store& store, const std::string& address) {
  MonitorListener listener{.socket = Socket(), .token = NewToken()};
  int error = 0;
  const AddressList found = FindAddresses(address, /*port=*/0, error);
  if (error != 0) return Unavailable("{}: {}", address, ::gai_strerror(error));
  if (error = ListenOn(found, listener.socket); error != 0)
    return ErrnoStatus(error, fmt::format("{}: listening for the other ranks", address));
  const Json place = {
      {"address", address}, {"port", OwnPlace(listener.socket).port}, {"token", listener.token}};
  try {
    store.set(kPlaceKey, place.dump());
  } catch (...) {
    return Unavailable("telling the ranks where rank 0 listens: {}", CaughtText());
  }
  return listener;
}

Result<LineLink> ConnectToFirst(c10d::Store& store, int64_t rank, milliseconds timeout,
                                const std::string& host) {
  STOKER_ASSIGN_OR_RETURN(const Json place, ReadPlace(store, timeout, host));
  const auto address = place.value("address", std::string());
  const auto port = place.value("port", int64_t{0});
  int error = 0;
  const AddressList found = FindAddresses(address, port, error);
  if (error != 0) return Unavailable("{}: {}", address, ::gai_strerror(error));
  Socket socket;
  error = ConnectTo(*found, kReachWithin, socket);
  if (error == ECANCELED) return Cancelled("stopped while connecting to rank 0 on {}", host);
  if (error != 0) {
    return Unavailable("rank 0 on {} cannot be reached: {}", host,
                       ErrnoStatus(error, fmt::format("{}:{}", address, port)).message());
  }
  LineLink link(std::move(socket));
  link.Send({{"hello", place.value("token", std::string())}, {"rank", rank}}, /*must=*/true);
  return link;
}

}  // namespace stoker
