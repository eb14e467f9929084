#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <regex>
#include <system_error>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "stoker/base/host_name.h"
#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"
#include "stoker/cluster/answer_limit_internal.h"
#include "stoker/cluster/rendezvous_internal.h"
#include "stoker/cluster/tcp_internal.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr double kSecondsBetweenAttempts = 0.05;
constexpr milliseconds kConnectWithin{2000};
constexpr milliseconds kToldAfter{20'000};
constexpr milliseconds kOwnNameWithin{30'000};
// After the ranks may no longer come: a process that runs says by then who is missing.
constexpr milliseconds kAnswersWithin{1000};

// Where rank 0 keeps the store, and until when the ranks may come.
struct Place {
  std::string host;
  int64_t port = 0;
  milliseconds timeout;
  mutable bool told = false;  // for whom this process waits
  steady_clock::time_point until = steady_clock::now() + timeout;

  bool late() const { return steady_clock::now() >= until; }
  std::string text() const { return fmt::format("{}:{}", host, port); }
  double seconds() const { return static_cast<double>(timeout.count()) / 1e3; }

  // Says once, after a while, for whom this process waits.
  void Tell(const std::string& missing) const {
    if (told || steady_clock::now() + timeout < until + kToldAfter) return;
    told = true;
    LogWarning(
        "{}: waiting for {}, up to {:g} s; start the others alike, or --independent trains "
        "alone",
        text(), missing, seconds());
  }
};

Result<AddressList> Resolve(const Place& place) {
  int error = 0;
  AddressList found = FindAddresses(place.host, place.port, error);
  if (error == 0) return found;
  return Unavailable(
      "{}: no address is known for '{}' ({}); MASTER_ADDR names the machine of rank 0",
      place.text(), place.host, ::gai_strerror(error));
}

// Of rank 0, which listens there. The name of a pod is known only some seconds after it began.
Result<AddressList> ResolveOwn(const Place& place) {
  const auto until = std::min(place.until, steady_clock::now() + kOwnNameWithin);
  while (true) {
    Result<AddressList> found = Resolve(place);
    if (found.ok() || steady_clock::now() >= until) return found;
    if (!SleepUnlessStopped(kSecondsBetweenAttempts))
      return Cancelled("stopped while looking for the address of {}", place.text());
  }
}

// Listens on the address of the store alone; c10d would on every one of the machine.
Result<Socket> Listen(const Place& place) {
  STOKER_ASSIGN_OR_RETURN(const AddressList found, ResolveOwn(place));
  Socket socket;
  const int error = ListenOn(found, socket);
  if (error == 0) return socket;
  if (error == EADDRINUSE) {
    return Unavailable(
        "{}: another program listens there: another run, or a second process with rank 0; give "
        "another port",
        place.text());
  }
  if (error == EADDRNOTAVAIL) {
    return InvalidArgument(
        "{}: this machine has no such address, but this process has rank 0, which waits for the "
        "others there",
        place.text());
  }
  return ErrnoStatus(error, place.text());
}

// Connects once; an errno if that fails.
int Connect(const addrinfo& to, std::string* own_address) {
  Socket socket;
  if (const int error = ConnectTo(to, kConnectWithin, socket); error != 0) return error;
  *own_address = OwnPlace(socket).address;
  return own_address->empty() ? EADDRNOTAVAIL : 0;
}

// Returns the address by which this machine reaches the store, once somebody listens there.
Result<std::string> WaitForStore(const Place& place) {
  int error = 0;
  while (true) {
    // Asked again each time: the name of a pod is known only once that runs.
    const Result<AddressList> found = Resolve(place);
    if (!found.ok() && place.late()) return found.status();
    for (const addrinfo* each = found.ok() ? found->get() : nullptr; each != nullptr;
         each = each->ai_next) {
      std::string address;
      error = Connect(*each, &address);
      if (error == 0) return address;
    }
    if (place.late()) {
      return Unavailable("{}: rank 0 did not come within {:g} s ({})", place.text(),
                         place.seconds(), ErrnoStatus(error, "connecting").message());
    }
    place.Tell("rank 0");
    if (!SleepUnlessStopped(kSecondsBetweenAttempts))
      return Cancelled("stopped while waiting for rank 0 at {}", place.text());
  }
}

// When a connection breaks, the store both throws, with all that matters, and prints a stack. A
// user who sets torch's log level keeps what it prints.
void KeepStoreQuiet() {
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = c10::GLOG_FATAL;
}

Result<c10::intrusive_ptr<c10d::Store>> OpenStore(const Place& place, std::optional<int> listener) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = listener.has_value();
  options.masterListenFd = listener;
  options.waitWorkers = false;
  options.timeout = place.timeout;
  try {
    return c10::intrusive_ptr<c10d::Store>(
        c10::make_intrusive<c10d::TCPStore>(place.host, options));
  } catch (...) {
    return Unavailable("{}: the store of the ranks cannot be opened: {}", place.text(),
                       CaughtText());
  }
}

// What a rank writes of itself.
struct Signature {
  std::string host;
  int64_t process = 0, world = 0;

  std::string text() const { return fmt::format("process {} on {}", process, host); }
};

std::vector<uint8_t> Bytes(const Signature& signature) {
  const std::string text =
      fmt::format("{} {} {}", signature.process, signature.world, signature.host);
  return {text.begin(), text.end()};
}

Signature Read(const std::vector<uint8_t>& bytes) {
  Signature signature;
  const std::string text(bytes.begin(), bytes.end());
  const size_t first = text.find(' '), second = text.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return signature;
  signature.process = std::strtoll(text.c_str(), nullptr, 10);
  signature.world = std::strtoll(text.c_str() + first, nullptr, 10);
  signature.host = text.substr(second + 1);
  return signature;
}

std::string KeyOf(int64_t rank) { return fmt::format("rank/{}", rank); }

// Signs in the store as `membership.rank`, and returns the hosts of all ranks once they have
// signed.
Result<std::vector<std::string>> SignAndWait(c10d::Store& store, const Membership& membership,
                                             const Place& place) {
  const Signature own{HostName(), ::getpid(), membership.world};
  if (store.add(fmt::format("claims/{}", membership.rank), 1) > 1) {
    // The other has claimed the rank, and signs next.
    while (!store.check({KeyOf(membership.rank)}) && !place.late()) {
      if (!SleepUnlessStopped(kSecondsBetweenAttempts))
        return Cancelled("stopped while asking who else has rank {}", membership.rank);
    }
    if (place.late()) {
      return InvalidArgument("rank {} was given to two processes; each needs a rank of its own",
                             membership.rank);
    }
    return InvalidArgument(
        "rank {} was given to two processes, {} and {}; each needs a rank of its own",
        membership.rank, Read(store.get(KeyOf(membership.rank))).text(), own.text());
  }
  store.set(KeyOf(membership.rank), Bytes(own));

  std::vector<std::string> hosts(membership.world);
  std::vector<int64_t> missing(membership.world);
  for (int64_t rank = 0; rank < membership.world; ++rank) missing[rank] = rank;
  while (true) {
    std::vector<int64_t> still;
    for (const int64_t rank : missing) {
      if (!store.check({KeyOf(rank)})) {
        still.push_back(rank);
        continue;
      }
      const Signature other = Read(store.get(KeyOf(rank)));
      if (other.world != own.world) {
        return InvalidArgument(
            "rank {} ({}) was told of {} processes, but rank {} ({}) of {}; start all of them "
            "alike",
            rank, other.text(), other.world, membership.rank, own.text(), own.world);
      }
      hosts[rank] = other.host;
    }
    missing = std::move(still);
    if (missing.empty()) return hosts;
    const std::string who = fmt::format("rank{} {} of {}", missing.size() == 1 ? "" : "s",
                                        fmt::join(missing, ", "), membership.world);
    if (place.late()) {
      return Unavailable("{}: {} did not come within {:g} s", place.text(), who, place.seconds());
    }
    place.Tell(who);
    if (!SleepUnlessStopped(kSecondsBetweenAttempts))
      return Cancelled("stopped while waiting for rank {} at {}", missing.front(), place.text());
  }
}

// In a store that is open.
Status MeetIn(Meeting& meeting, const Membership& membership, const Place& place) {
  meeting.store = c10::make_intrusive<c10d::PrefixStore>(
      fmt::format("stoker/{}", membership.restart), meeting.store);
  try {
    STOKER_ASSIGN_OR_RETURN(meeting.hosts, SignAndWait(*meeting.store, membership, place));
  } catch (...) {
    return Unavailable("{}: rank 0, which keeps the store, is gone: {}", place.text(),
                       CaughtText());
  }
  return OkStatus();
}

// Connects to the store, which another process keeps, and meets the others there.
Status MeetThere(Meeting& meeting, const Membership& membership, const Place& place) {
  STOKER_ASSIGN_OR_RETURN(const SocketList before, OpenSockets());
  const auto opened = [&before] {
    Result<SocketList> found = OpenedSince(before);
    return found.ok() ? *std::move(found) : SocketList();
  };
  const AnswerLimit limit(place.until + kAnswersWithin, opened);
  const Status met = [&]() -> Status {
    STOKER_ASSIGN_OR_RETURN(meeting.store, OpenStore(place, std::nullopt));
    meeting.store_sockets = opened();
    return MeetIn(meeting, membership, place);
  }();
  if (met.ok() || !limit.passed()) return met;
  return Unavailable(
      "{}: rank 0 was reached, but did not answer within {:g} s: see whether its process is "
      "stopped, and its machine well",
      place.text(), place.seconds());
}

}  // namespace

std::string CaughtText() {
  std::string text;
  try {
    throw;
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  } catch (const std::system_error& error) {
    text = error.what();
    // Of what c10d asks the system for by the standard library, nothing but threads is refused so.
    if (error.code() == std::errc::resource_unavailable_try_again) {
      text = fmt::format(
          "a thread cannot be started: {}; raise the limit on threads (ulimit -u, the container's "
          "limit of processes)",
          text);
    }
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an unknown error";
  }
  text = text.substr(0, text.find('\n'));
  static const std::regex place(R"(^\[[^\]]*:\d+\] )");
  return std::regex_replace(text, place, "");
}

Result<Meeting> Meet(const Membership& membership, milliseconds timeout) {
  const Place place{.host = membership.host, .port = membership.port, .timeout = timeout};
  KeepStoreQuiet();
  Meeting meeting;
  const bool keeps_store = membership.rank == 0 && !membership.agent_has_store;
  if (keeps_store) {
    STOKER_ASSIGN_OR_RETURN(Socket listener, membership.listener < 0
                                                 ? Listen(place)
                                                 : Result<Socket>(Socket(membership.listener)));
    STOKER_ASSIGN_OR_RETURN(meeting.store, OpenStore(place, listener.Release()));
  }
  STOKER_ASSIGN_OR_RETURN(meeting.address, WaitForStore(place));
  STOKER_RETURN_IF_ERROR(keeps_store ? MeetIn(meeting, membership, place)
                                     : MeetThere(meeting, membership, place));
  return meeting;
}

}  // namespace stoker
