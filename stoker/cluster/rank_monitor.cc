#include "stoker/cluster/rank_monitor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/base/worker_group.h"
#include "stoker/cluster/line_link_internal.h"
#include "stoker/cluster/monitor_place_internal.h"
#include "stoker/cluster/rank_judge_internal.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLongestBeat{500}, kShortestBeat{10};
constexpr milliseconds kGoodbyeWithin{1000};
// How long a rank may take to notice a fault: one that others have waited for in vain, and others,
// which may be storing what is done.
constexpr milliseconds kPatienceWithLate{10'000}, kLeastPatience{60'000};

// Connections of others than ranks that rank 0 keeps open.
constexpr size_t kMostStrangers = 64;

Json ToJson(const RankReport& report) {
  return {{"doing", report.doing},
          {"started", report.started},
          {"awaited", report.awaited},
          {"what", report.what}};
}

// Throws Json::exception.
RankReport ReportIn(const Json& line) {
  const Json& report = line.at("report");
  return {.doing = report.at("doing"),
          .started = report.at("started"),
          .awaited = report.at("awaited"),
          .what = report.at("what")};
}

Status FaultStatus(const RankFault& fault) { return Unavailable("{}", fault.sentence); }

}  // namespace

// Members without a lock belong to the thread.
class RankMonitor::Impl {
 public:
  explicit Impl(MonitorOptions options)
      : options_(std::move(options)),
        beat_(std::clamp(options_.timeout / 8, kShortestBeat, kLongestBeat)),
        judge_(options_.hosts, options_.timeout) {}

  Status Open(c10d::Store& store);
  void Leave(const Status& how);

  void Does(std::string doing) {
    const MutexLock lock(mutex_);
    own_.doing = std::move(doing);
  }
  int64_t Begins() {
    const MutexLock lock(mutex_);
    return ++own_.started;
  }
  void Awaits(int64_t number, std::string what) {
    const MutexLock lock(mutex_);
    own_.awaited = number;
    own_.what = std::move(what);
  }
  Status WaitForFault(milliseconds longest);

 private:
  struct Peer {
    LineLink link;
    int64_t rank = -1;  // -1: has not said it
  };

  bool keeps() const { return options_.rank == 0; }
  void Wake() const { ::eventfd_write(wake_.get(), 1); }

  void Run();
  void WaitUntil(steady_clock::time_point until);
  void Accept();
  void ReadAll();
  void Take(Peer& peer, const Json& line);
  void Tell();
  void NoteStop();
  void Raise(const RankFault& fault);
  void CountUnheard(milliseconds passed);
  void SayGoodbye();
  RankReport Own() {
    const MutexLock lock(mutex_);
    return own_;
  }
  bool Leaves() {
    const MutexLock lock(mutex_);
    return leaves_.has_value();
  }
  bool AskedToTell() {
    const MutexLock lock(mutex_);
    return std::exchange(tell_now_, false);
  }

  const MonitorOptions options_;
  const milliseconds beat_;
  Socket wake_;               // an eventfd
  MonitorListener listener_;  // of rank 0
  std::vector<Peer> peers_;   // of rank 0: all others; of another: rank 0
  RankJudge judge_;
  bool first_has_ended_ = false;
  bool all_stop_ = false;
  milliseconds unheard_{0};
  bool told_unheard_ = false;

  Mutex mutex_;
  CondVar changed_;
  RankReport own_ STOKER_GUARDED_BY(mutex_);
  std::optional<RankFault> fault_ STOKER_GUARDED_BY(mutex_);
  bool noticed_ STOKER_GUARDED_BY(mutex_) = false;
  bool tell_now_ STOKER_GUARDED_BY(mutex_) = false;
  std::optional<std::string> leaves_ STOKER_GUARDED_BY(mutex_);  // why it fails; empty: it is done

  WorkerGroup thread_;
};

// --- Start

Status RankMonitor::Impl::Open(c10d::Store& store) {
  wake_ = Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) return ErrnoStatus(errno, "starting the monitor of the ranks");
  if (keeps()) {
    STOKER_ASSIGN_OR_RETURN(listener_, ListenForMonitors(store, options_.address));
  } else {
    STOKER_ASSIGN_OR_RETURN(LineLink link, ConnectToFirst(store, options_.rank, options_.timeout,
                                                          options_.hosts.front()));
    judge_.Heard(0, {});
    peers_.push_back({.link = std::move(link), .rank = 0});
  }
  STOKER_ASSIGN_OR_RETURN(thread_, WorkerGroup::Start(1, "rank-monitor", [this](int) { Run(); }));
  return OkStatus();
}

// --- The thread

void RankMonitor::Impl::Run() {
  auto before = steady_clock::now();
  auto next_beat = before;
  while (!Leaves()) {
    WaitUntil(next_beat);
    Accept();
    ReadAll();
    const auto now = steady_clock::now();
    // More has passed only if this process was stopped.
    const milliseconds passed =
        std::min(2 * beat_, std::chrono::duration_cast<milliseconds>(now - before));
    if (AskedToTell() || now >= next_beat) {
      Tell();
      next_beat = now + beat_;
    }
    before += passed == 2 * beat_ ? now - before : steady_clock::duration(passed);
    if (const auto& fault = judge_.Look(passed)) Raise(*fault);
    CountUnheard(passed);
  }
  SayGoodbye();
}

void RankMonitor::Impl::WaitUntil(steady_clock::time_point until) {
  std::vector<pollfd> polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                {.fd = listener_.socket.get(), .events = POLLIN, .revents = 0}};
  for (const Peer& peer : peers_) {
    const short events = peer.link.unsent() ? POLLIN | POLLOUT : POLLIN;
    polled.push_back({.fd = peer.link.descriptor(), .events = events, .revents = 0});
  }
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
  ::poll(polled.data(), polled.size(), static_cast<int>(std::max<int64_t>(left, 0)));
  eventfd_t woken = 0;
  ::eventfd_read(wake_.get(), &woken);
}

void RankMonitor::Impl::Accept() {
  pollfd waiting = {.fd = listener_.socket.get(), .events = POLLIN, .revents = 0};
  while (listener_.socket.valid() && ::poll(&waiting, 1, 0) > 0) {
    Socket socket(
        ::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return;
    // Who is no rank of ours may connect too, and say nothing.
    if (peers_.size() < options_.hosts.size() + kMostStrangers)
      peers_.push_back({.link = LineLink(std::move(socket))});
  }
}

void RankMonitor::Impl::ReadAll() {
  for (Peer& peer : peers_) {
    peer.link.Flush();
    const std::vector<Json> lines = peer.link.Read();
    try {
      for (const Json& line : lines) Take(peer, line);
    } catch (const Json::exception&) {  // of no rank of ours
      peer.link.Close();
    }
    if (!peer.link.open() && peer.rank >= 0) judge_.Closed(peer.rank);
  }
  std::erase_if(peers_, [](const Peer& peer) { return !peer.link.open(); });
}

// Throws Json::exception.
void RankMonitor::Impl::Take(Peer& peer, const Json& line) {
  if (peer.rank < 0) {
    if (line.at("hello") != listener_.token) return peer.link.Close();
    const int64_t rank = line.at("rank");
    if (rank < 1 || rank >= std::ssize(options_.hosts)) return peer.link.Close();
    peer.rank = rank;
    judge_.Heard(rank, {});
  } else if (line.contains("fault")) {
    Raise({.rank = line.at("rank"), .sentence = line.at("fault")});
  } else {
    RankReport report = ReportIn(line);
    if (line.at("stops")) NoteStop();
    // Who of all holds rank 0 up, it knows itself.
    if (!keeps()) {
      report.doing = report.Sentence();
      report.awaited = 0;
    }
    if (!line.contains("end")) return judge_.Heard(peer.rank, std::move(report));
    judge_.Ended(peer.rank, std::move(report), line.at("end"));
    first_has_ended_ |= peer.rank == 0;
    peer.link.Close();
  }
}

void RankMonitor::Impl::Tell() {
  const RankReport own = Own();
  if (options_.hooks.stops && options_.hooks.stops()) NoteStop();
  // Another than rank 0 judges itself only where rank 0 no longer does.
  if (keeps() || first_has_ended_) judge_.Heard(options_.rank, own);
  for (Peer& peer : peers_) {
    if (peer.rank >= 0) peer.link.Send({{"report", ToJson(own)}, {"stops", all_stop_}});
  }
}

void RankMonitor::Impl::NoteStop() {
  if (std::exchange(all_stop_, true)) return;
  if (options_.hooks.on_stop) options_.hooks.on_stop();
}

void RankMonitor::Impl::Raise(const RankFault& fault) {
  {
    const MutexLock lock(mutex_);
    if (fault_) return;
    fault_ = fault;
  }
  changed_.NotifyAll();
  if (keeps()) {
    for (Peer& peer : peers_)  // also to one whose hello is not read yet
      peer.link.Send({{"fault", fault.sentence}, {"rank", fault.rank}}, /*must=*/true);
  }
  if (options_.end_exchanges) options_.end_exchanges();
  if (options_.hooks.on_fault) options_.hooks.on_fault();
}

void RankMonitor::Impl::CountUnheard(milliseconds passed) {
  std::optional<RankFault> fault;
  {
    const MutexLock lock(mutex_);
    if (noticed_ || told_unheard_ || !fault_) return;
    fault = fault_;
  }
  unheard_ += passed;
  const bool late = fault->rank == options_.rank;
  const milliseconds patience = late ? std::min(options_.timeout, kPatienceWithLate)
                                     : std::max(options_.timeout, kLeastPatience);
  if (unheard_ <= patience) return;
  told_unheard_ = true;
  if (options_.hooks.on_unheard) options_.hooks.on_unheard(FaultStatus(*fault));
}

// A rank that closed its side before it has read all would discard what it has sent itself.
void RankMonitor::Impl::SayGoodbye() {
  Json line;
  {
    const MutexLock lock(mutex_);
    line = {{"end", *leaves_}, {"report", ToJson(own_)}, {"stops", all_stop_}};
  }
  Accept();
  for (Peer& peer : peers_) {
    peer.link.Send(line, /*must=*/true);
    peer.link.EndSending();
  }
  listener_.socket = Socket();
  const auto until = steady_clock::now() + kGoodbyeWithin;
  while (!peers_.empty() && steady_clock::now() < until) {
    WaitUntil(until);
    for (Peer& peer : peers_) {
      peer.link.Flush();
      const std::vector<Json> lines = peer.link.Read();
      if (std::ranges::any_of(lines, [](const Json& each) { return each.contains("end"); }))
        peer.link.Close();
    }
    std::erase_if(peers_, [](const Peer& peer) { return !peer.link.open(); });
  }
  peers_.clear();
}

// --- Called by the rank

Status RankMonitor::Impl::WaitForFault(milliseconds longest) {
  const auto there = [this]() STOKER_REQUIRES(mutex_) { return fault_.has_value(); };
  const MutexLock lock(mutex_);
  if (!fault_ && longest.count() > 0 && !leaves_) {
    tell_now_ = true;
    Wake();
    changed_.WaitFor(mutex_, longest, there);
  }
  if (!fault_) return OkStatus();
  noticed_ = true;
  return FaultStatus(*fault_);
}

void RankMonitor::Impl::Leave(const Status& how) {
  {
    const MutexLock lock(mutex_);
    if (!leaves_) leaves_ = how.message();
  }
  Wake();
  thread_.Join();
}

Result<std::unique_ptr<RankMonitor>> RankMonitor::Start(c10d::Store& store,
                                                        MonitorOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  STOKER_RETURN_IF_ERROR(impl->Open(store));
  return std::unique_ptr<RankMonitor>(new RankMonitor(std::move(impl)));
}

RankMonitor::RankMonitor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RankMonitor::~RankMonitor() { Leave(OkStatus()); }

void RankMonitor::Does(std::string doing) { impl_->Does(std::move(doing)); }
int64_t RankMonitor::Begins() { return impl_->Begins(); }
void RankMonitor::Awaits(int64_t number, std::string what) {
  impl_->Awaits(number, std::move(what));
}
void RankMonitor::AwaitsNothing() { impl_->Awaits(0, {}); }
Status RankMonitor::fault() { return impl_->WaitForFault({}); }
Status RankMonitor::WaitForFault(milliseconds longest) { return impl_->WaitForFault(longest); }
void RankMonitor::Leave(const Status& how) { impl_->Leave(how); }

}  // namespace stoker
