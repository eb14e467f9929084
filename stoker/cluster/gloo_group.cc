// The group over c10d's Gloo: a queue of collectives, which two threads of c10d work off over TCP.
#include <ATen/Functions.h>

#include <algorithm>
#include <mutex>
#include <regex>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/cluster/answer_limit_internal.h"
#include "stoker/cluster/gloo_internal.h"
#include "stoker/cluster/group.h"
#include "stoker/cluster/open_sockets_internal.h"
#include "stoker/cluster/patient_threads_internal.h"
#include "stoker/cluster/rank_monitor.h"
#include "stoker/cluster/rendezvous_internal.h"

namespace stoker {
namespace {

// c10d has no way to end what is under way, and its destructor waits for that, which may be until
// the timeout. This one shuts the connections to the other ranks, which ends it here and there.
class EndableGloo final : public c10d::ProcessGroupGloo {
 public:
  // Connects the ranks. Errors: those of OpenSockets. Throws what c10d throws.
  static Result<c10::intrusive_ptr<EndableGloo>> Connect(
      const c10::intrusive_ptr<c10d::Store>& store, const Membership& membership,
      const c10::intrusive_ptr<Options>& options) {
    STOKER_ASSIGN_OR_RETURN(const SocketList before, OpenSockets());
    // Where the system refuses a thread, c10d's constructor ends the process if it has started
    // another. So it starts one.
    options->threads = 1;
    auto gloo = c10::make_intrusive<EndableGloo>(store, static_cast<int>(membership.rank),
                                                 static_cast<int>(membership.world), options);
    gloo->StartSecondThread();
    STOKER_ASSIGN_OR_RETURN(gloo->sockets_, OpenedSince(before));
    return gloo;
  }
  using ProcessGroupGloo::ProcessGroupGloo;
  ~EndableGloo() override { End(); }

  void End() { ShutDown(sockets_); }

 private:
  // So that an exchange does not wait for the one before it. Throws what std::thread throws.
  void StartSecondThread() {
    const std::lock_guard lock(workMutex_);  // of c10d
    workInProgress_.resize(2);
    threads_.emplace_back(&EndableGloo::runLoop, this, 1);
  }

  SocketList sockets_;  // set before another thread has the group
};

c10d::ReduceOp OperationOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMin: return c10d::ReduceOp::MIN;
    case Reduction::kMax: return c10d::ReduceOp::MAX;
    case Reduction::kSum: break;
  }
  return c10d::ReduceOp::SUM;
}

// How long after an exchange has failed the monitor may take to know whose fault it is.
constexpr std::chrono::milliseconds kFaultKnownWithin{2000};
// By how much Gloo waits longer than the monitor, which knows for whom.
constexpr std::chrono::milliseconds kPatienceOfGloo{5000};

// Ranks that have just met connect in milliseconds, where none dies. c10d's constructor cannot be
// stopped, so it gets no more time than many ranks on few CPUs need.
constexpr std::chrono::milliseconds kConnectMeshWithin{60000};

// What the groups of the same ranks share. Thread-safe.
class Watch {
 public:
  void Add(c10::intrusive_ptr<EndableGloo> gloo) {
    const MutexLock lock(mutex_);
    gloos_.push_back(std::move(gloo));
  }
  // Ends the group and forgets it.
  void End(const c10::intrusive_ptr<EndableGloo>& gloo) {
    const MutexLock lock(mutex_);
    gloo->End();
    std::erase(gloos_, gloo);
  }
  void EndAll() {
    const MutexLock lock(mutex_);
    for (const auto& gloo : gloos_) gloo->End();
  }

  // Null while the ranks connect.
  RankMonitor* monitor() const { return monitor_.get(); }
  // REQUIRES: nothing is under way.
  void SetMonitor(std::unique_ptr<RankMonitor> monitor) { monitor_ = std::move(monitor); }

 private:
  Mutex mutex_;
  std::vector<c10::intrusive_ptr<EndableGloo>> gloos_ STOKER_GUARDED_BY(mutex_);
  std::unique_ptr<RankMonitor> monitor_;  // the last: its thread uses the others
};

// What an exchange needs of its group, which may end before it.
struct Connection {
  c10::intrusive_ptr<EndableGloo> gloo;
  Membership membership;
  Meeting meeting;
  std::chrono::milliseconds timeout;  // of Gloo
  std::shared_ptr<Watch> watch;
  bool beside = false;  // made by Beside

  // Counts this group's collectives, which those beside it are not among: their order differs.
  RankMonitor* counter() const { return beside ? nullptr : watch->monitor(); }

  Status Failed(std::string_view what, const std::string& why) const {
    if (RankMonitor* const monitor = watch->monitor()) {
      // A group beside may end alone, which is no fault.
      const Status fault = beside ? monitor->fault() : monitor->WaitForFault(kFaultKnownWithin);
      if (!fault.ok()) return WithWhat(what, fault);
    }
    return Unavailable("{}: rank {} of {} on {}: {}", what, membership.rank, membership.world,
                       meeting.hosts[membership.rank], why);
  }

  // The monitor's fault, if there is one.
  Status Fault(std::string_view what) const {
    const Status fault = watch->monitor() ? watch->monitor()->fault() : OkStatus();
    return fault.ok() ? fault : WithWhat(what, fault);
  }

 private:
  // Leaves the error of another rank as it is.
  static Status WithWhat(std::string_view what, const Status& fault) {
    static const std::regex failed("^rank [0-9]+ failed: ");
    if (std::regex_search(fault.message(), failed)) return fault;
    return Unavailable("{}: {}", what, fault.message());
  }
};

// While it lives, the others are told for what this rank waits.
class AwaitScope {
 public:
  AwaitScope(RankMonitor* monitor, int64_t number, const std::string& what) : monitor_(monitor) {
    if (monitor_ != nullptr) monitor_->Awaits(number, what);
  }
  ~AwaitScope() {
    if (monitor_ != nullptr) monitor_->AwaitsNothing();
  }
  AwaitScope(const AwaitScope&) = delete;
  AwaitScope& operator=(const AwaitScope&) = delete;

 private:
  RankMonitor* const monitor_;
};

class GlooExchange final : public Exchange {
 public:
  //   number  the monitor's; 0: there is none
  GlooExchange(std::shared_ptr<Connection> connection, c10::intrusive_ptr<c10d::Work> work,
               int64_t number, std::string what)
      : connection_(std::move(connection)),
        work_(std::move(work)),
        number_(number),
        what_(std::move(what)) {}

  Status Wait() override {
    const AwaitScope scope(connection_->counter(), number_, what_);
    while (true) {
      try {
        work_->wait(StopScope::Interval());
        return OkStatus();
      } catch (...) {
        // c10d throws for a wait that has come to its end as for a collective that failed.
        if (work_->isCompleted()) {
          if (work_->isSuccess()) return OkStatus();
          const std::string why = CaughtText();
          // Another rank may wait for this one alone: a collective is made of messages between two.
          connection_->gloo->End();
          return connection_->Failed(what_, why);
        }
      }
      if (StopScope::Asked()) {
        connection_->gloo->End();
        return Cancelled("stopped while waiting for the other ranks: {}", what_);
      }
    }
  }

 private:
  const std::shared_ptr<Connection> connection_;
  const c10::intrusive_ptr<c10d::Work> work_;
  const int64_t number_;
  const std::string what_;
};

Result<std::unique_ptr<Group>> ConnectBeside(Connection connection);

class GlooGroup final : public Group {
 public:
  explicit GlooGroup(Connection connection)
      : connection_(std::make_shared<Connection>(std::move(connection))) {}
  ~GlooGroup() override {
    GlooGroup::Leave(OkStatus());
    connection_->watch->End(connection_->gloo);
  }

  // REQUIRES: nothing is under way.
  Status StartMonitor(MonitorOptions options) {
    options.end_exchanges = [watch = connection_->watch.get()] { watch->EndAll(); };
    STOKER_ASSIGN_OR_RETURN(auto monitor,
                            RankMonitor::Start(*connection_->meeting.store, std::move(options)));
    connection_->watch->SetMonitor(std::move(monitor));
    return OkStatus();
  }

  void Does(std::string doing) override {
    if (RankMonitor* const monitor = connection_->counter()) monitor->Does(std::move(doing));
  }

  void Leave(const Status& how) override {
    if (RankMonitor* const monitor = connection_->counter())
      monitor->Leave(agreed() ? OkStatus() : how);
  }

  const Membership& membership() const override { return connection_->membership; }

  Result<std::unique_ptr<Exchange>> StartAllReduce(at::Tensor tensor, Reduction reduction,
                                                   std::string_view what) override {
    return Start(what, [&] {
      c10d::AllreduceOptions options;
      options.reduceOp = OperationOf(reduction);
      options.timeout = connection_->timeout;
      std::vector<at::Tensor> tensors = {std::move(tensor)};
      return connection_->gloo->allreduce(tensors, options);
    });
  }

  Status Broadcast(at::Tensor tensor, int64_t root, std::string_view what) override {
    return Finish(what, [&] {
      c10d::BroadcastOptions options;
      options.rootRank = root;
      options.timeout = connection_->timeout;
      std::vector<at::Tensor> tensors = {std::move(tensor)};
      return connection_->gloo->broadcast(tensors, options);
    });
  }

  Status AllGather(const at::Tensor& tensor, at::Tensor gathered, std::string_view what) override {
    return Finish(what, [&] {
      c10d::AllgatherOptions options;
      options.timeout = connection_->timeout;
      std::vector<at::Tensor> inputs = {tensor};
      std::vector<std::vector<at::Tensor>> outputs = {gathered.unbind(0)};
      return connection_->gloo->allgather(outputs, inputs, options);
    });
  }

  Status ReduceScatter(const at::Tensor& whole, at::Tensor part, std::string_view what) override {
    return Finish(what, [&] {
      c10d::ReduceScatterOptions options;
      options.timeout = connection_->timeout;
      std::vector<at::Tensor> outputs = {std::move(part)};
      std::vector<std::vector<at::Tensor>> inputs = {whole.chunk(membership().world, 0)};
      return connection_->gloo->reduce_scatter(outputs, inputs, options);
    });
  }

  Status Barrier(std::string_view what) override {
    // Gloo's own would wait for exchanges that were started before it and that nobody waits for
    // yet.
    return AllReduce(at::zeros({1}, at::kByte), Reduction::kSum, what);
  }

  Result<std::unique_ptr<Group>> Beside(std::string_view name) override {
    STOKER_RETURN_IF_ERROR(Barrier("meeting before a connection beside"));
    Connection beside = *connection_;
    beside.beside = true;
    beside.meeting.store = c10::make_intrusive<c10d::PrefixStore>(fmt::format("beside/{}", name),
                                                                  connection_->meeting.store);
    return ConnectBeside(std::move(beside));
  }

 private:
  template <typename Begin>
  Result<std::unique_ptr<Exchange>> Start(std::string_view what, const Begin& begin) {
    STOKER_RETURN_IF_ERROR(connection_->Fault(what));
    RankMonitor* const counter = connection_->counter();
    const int64_t number = counter != nullptr ? counter->Begins() : 0;
    try {
      return std::unique_ptr<Exchange>(
          std::make_unique<GlooExchange>(connection_, begin(), number, std::string(what)));
    } catch (...) {
      return connection_->Failed(what, CaughtText());
    }
  }

  template <typename Begin>
  Status Finish(std::string_view what, const Begin& begin) {
    STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Exchange> exchange, Start(what, begin));
    return exchange->Wait();
  }

  const std::shared_ptr<Connection> connection_;
};

// The group of one process.
class LoneGroup final : public Group {
 public:
  explicit LoneGroup(Membership membership) : membership_(std::move(membership)) {}

  const Membership& membership() const override { return membership_; }

  Result<std::unique_ptr<Exchange>> StartAllReduce(at::Tensor, Reduction,
                                                   std::string_view) override {
    return std::unique_ptr<Exchange>(std::make_unique<Nothing>());
  }
  Status Broadcast(at::Tensor, int64_t, std::string_view) override { return OkStatus(); }
  Status AllGather(const at::Tensor& tensor, at::Tensor gathered, std::string_view) override {
    gathered.select(0, 0).copy_(tensor);
    return OkStatus();
  }
  Status ReduceScatter(const at::Tensor& whole, at::Tensor part, std::string_view) override {
    part.copy_(whole);
    return OkStatus();
  }
  Status Barrier(std::string_view) override { return OkStatus(); }
  Result<std::unique_ptr<Group>> Beside(std::string_view) override {
    return std::unique_ptr<Group>(std::make_unique<LoneGroup>(membership_));
  }
  void Does(std::string) override {}
  void Leave(const Status&) override {}

 private:
  struct Nothing final : Exchange {
    Status Wait() override { return OkStatus(); }
  };

  const Membership membership_;
};

// Connects the ranks that have met. Each exchange brings a timeout of its own.
Status Connect(Connection& connection) {
  const Membership& membership = connection.membership;
  const auto within = std::min(connection.timeout, kConnectMeshWithin);
  const AnswerLimit limit(std::chrono::steady_clock::now() + within,
                          [&connection] { return connection.meeting.store_sockets; });
  const PatientThreads patient;
  try {
    const auto options = c10d::ProcessGroupGloo::Options::create(within);
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(connection.meeting.address));
    STOKER_ASSIGN_OR_RETURN(connection.gloo,
                            EndableGloo::Connect(connection.meeting.store, membership, options));
  } catch (...) {
    return connection.Failed("connecting the ranks", CaughtText());
  }
  connection.watch->Add(connection.gloo);
  return OkStatus();
}

// A rank may be done with connecting, and gone, before the others are.
Result<std::unique_ptr<Group>> WithAll(std::unique_ptr<GlooGroup> group) {
  STOKER_RETURN_IF_ERROR(group->Barrier("connecting the ranks"));
  return std::unique_ptr<Group>(std::move(group));
}

Result<std::unique_ptr<Group>> ConnectBeside(Connection connection) {
  STOKER_RETURN_IF_ERROR(Connect(connection));
  return WithAll(std::make_unique<GlooGroup>(std::move(connection)));
}

}  // namespace

Result<std::unique_ptr<Group>> JoinGroup(const Membership& membership, const JoinOptions& options) {
  if (membership.alone()) return std::unique_ptr<Group>(std::make_unique<LoneGroup>(membership));
  STOKER_ASSIGN_OR_RETURN(Meeting meeting, Meet(membership, options.timeout));
  MonitorOptions monitor{.rank = membership.rank,
                         .hosts = meeting.hosts,
                         .address = meeting.address,
                         .timeout = options.timeout,
                         .hooks = options.hooks};
  Connection connection{.gloo = {},
                        .membership = membership,
                        .meeting = std::move(meeting),
                        .timeout = options.timeout + kPatienceOfGloo,
                        .watch = std::make_shared<Watch>()};
  STOKER_RETURN_IF_ERROR(Connect(connection));
  auto group = std::make_unique<GlooGroup>(std::move(connection));
  STOKER_RETURN_IF_ERROR(group->StartMonitor(std::move(monitor)));
  return WithAll(std::move(group));
}

}  // namespace stoker
