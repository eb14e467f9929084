#include "stoker/tools/launch/rank_group.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"

namespace stoker {
namespace {

constexpr int kTickMilliseconds = 20;
constexpr double kPatienceSeconds = 30;

struct Listener {
  Descriptor socket;
  int port = 0;
};

// Rank 0 takes the socket over, so that nobody else can have the port in between, and others can
// connect before it listens.
Result<Listener> Listen() {
  Listener listener{Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int socket = listener.socket.get();
  if (socket < 0 || ::bind(socket, generic, size) != 0 || ::listen(socket, SOMAXCONN) != 0 ||
      ::getsockname(socket, generic, &size) != 0) {
    return ErrnoStatus(errno, "listening on 127.0.0.1 for the processes to find each other");
  }
  listener.port = ntohs(address.sin_port);
  return listener;
}

std::vector<int> OwnCpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;  // more CPUs than a set has
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

class Group {
 public:
  Status Start(const RanksToRun& options) {
    STOKER_ASSIGN_OR_RETURN(const Listener listener, Listen());
    const std::vector<int> cpus = options.share_cpus ? std::vector<int>() : OwnCpus();
    for (int rank = 0; rank < options.ranks; ++rank) {
      RankOptions each{.words = options.words,
                       .place = {.rank = rank,
                                 .world = options.ranks,
                                 .port = listener.port,
                                 .listener = rank == 0 ? listener.socket.get() : -1,
                                 .restart = options.restart,
                                 .most_restarts = options.most_restarts},
                       .cpus = CpusOfRank(cpus, rank, options.ranks),
                       .log = {}};
      if (!options.log_folder.empty())
        each.log = fmt::format("{}/rank-{}.log", options.log_folder, rank);
      Result<RankProcess> process = RankProcess::Start(each);
      if (!process.ok()) {
        SignalAll(SIGKILL);
        WaitForAll();
        return process.status();
      }
      ranks_.push_back(*std::move(process));
    }
    return OkStatus();
  }

  std::optional<RankFailure> Run() {
    while (Running()) {
      PassOutput();
      PassSignals();
      for (RankProcess& rank : ranks_) rank.Poll();
      NoteFailure();
      if (told_ && told_->ElapsedSeconds() > kPatienceSeconds) SignalAll(SIGKILL);
    }
    for (RankProcess& rank : ranks_) Drain(rank);
    return failure_;
  }

 private:
  bool Running() const {
    return std::ranges::any_of(ranks_, [](const RankProcess& rank) { return !rank.end(); });
  }
  void SignalAll(int number) const {
    for (const RankProcess& rank : ranks_) rank.Signal(number);
  }
  void WaitForAll() {
    while (Running()) {
      ::poll(nullptr, 0, kTickMilliseconds);
      for (RankProcess& rank : ranks_) rank.Poll();
    }
  }

  void PassOutput() {
    std::vector<pollfd> polled;
    std::vector<RankOutput*> outputs;
    for (RankProcess& rank : ranks_) {
      for (RankOutput& output : rank.outputs()) {
        if (output.ended()) continue;
        polled.push_back({.fd = output.descriptor(), .events = POLLIN, .revents = 0});
        outputs.push_back(&output);
      }
    }
    if (::poll(polled.data(), polled.size(), kTickMilliseconds) <= 0) return;
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) outputs[i]->Pass();
    }
  }

  // What a process that has ended left in its pipes. What it started itself may still hold them,
  // and is not waited for.
  static void Drain(RankProcess& rank) {
    for (RankOutput& output : rank.outputs()) {
      pollfd polled = {.fd = output.descriptor(), .events = POLLIN, .revents = 0};
      while (!output.ended() && ::poll(&polled, 1, 0) > 0) output.Pass();
      if (!output.ended()) output.Finish();
    }
  }

  void PassSignals() {
    if (Interrupted() && !interrupted_) {
      interrupted_ = true;
      SignalAll(InterruptSignal());
    }
  }

  void NoteFailure() {
    if (failure_) return;
    for (const RankProcess& rank : ranks_) {
      if (!rank.end() || *rank.end() == 0) continue;
      failure_ = RankFailure{rank.rank(), *rank.end()};
      if (interrupted_) return;  // they are ending, each by itself
      told_.emplace();
      if (!Running()) return;
      PrintProgress(stderr, fmt::format("launch: {}; ending the others\n", failure_->Sentence()));
      SignalAll(SIGTERM);
      return;
    }
  }

  std::vector<RankProcess> ranks_;
  std::optional<RankFailure> failure_;
  std::optional<Stopwatch> told_;
  bool interrupted_ = false;
};

}  // namespace

std::string RankFailure::Sentence() const {
  if (!WIFSIGNALED(status))
    return fmt::format("rank {} ended with exit code {}", rank, WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("rank {} was killed by signal {} ({})", rank, signal, ::strsignal(signal));
}

int RankFailure::exit_code() const {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<std::optional<RankFailure>> RunRanks(const RanksToRun& options) {
  Group group;
  STOKER_RETURN_IF_ERROR(group.Start(options));
  return group.Run();
}

}  // namespace stoker
