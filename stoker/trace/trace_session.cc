#include "stoker/trace/trace_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/host_name.h"
#include "stoker/base/proc_text.h"
#include "stoker/io/atomic_file.h"
#include "stoker/trace/flame_graph.h"
#include "stoker/trace/folded_stacks.h"

namespace stoker {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
constexpr int64_t kLooksBetweenMemory = 2;

// Whether a file can be made there, before there is something to write into it.
Status CheckCanBeMade(const std::string& path) {
  if (path.empty()) return OkStatus();
  STOKER_RETURN_IF_ERROR(CheckNameIsOfNoDevice(path));
  return AtomicFileWriter::Create(path).status();  // gone again
}

// 0 if unknown.
int64_t ResidentBytes() {
  const std::string sizes = ReadSmallText("/proc/self/statm");
  const size_t begin = sizes.find(' ');
  if (begin == std::string::npos) return 0;
  const std::string_view after = std::string_view(sizes).substr(begin + 1);
  return ParseCount(after.substr(0, after.find(' '))).value_or(0) * ::sysconf(_SC_PAGESIZE);
}

Json LossesJson(const TraceLosses& losses) {
  return {{"brief", losses.brief},
          {"full", losses.full},
          {"unheld", losses.unheld},
          {"unstacked", losses.unstacked}};
}

}  // namespace

Result<std::unique_ptr<TraceSession>> TraceSession::Start(TraceOutputs outputs, std::string command,
                                                          std::string version) {
  std::unique_ptr<TraceSession> session(new TraceSession(std::move(outputs), std::move(command)));
  const TraceOutputs& wanted = session->outputs_;
  STOKER_RETURN_IF_ERROR(CheckCanBeMade(wanted.flame));
  STOKER_RETURN_IF_ERROR(CheckCanBeMade(wanted.folded));
  STOKER_ASSIGN_OR_RETURN(session->recorder_, TraceRecorder::Start());
  if (!wanted.trace.empty()) {
    STOKER_ASSIGN_OR_RETURN(session->file_,
                            TraceFile::Create(wanted.trace,
                                              {.command = session->command_,
                                               .version = std::move(version),
                                               .host = HostName(),
                                               .pid = ::getpid()},
                                              session->recorder_->began_ns(), wanted.most_bytes));
  }
  STOKER_ASSIGN_OR_RETURN(
      session->writer_, WorkerGroup::Start(1, "trace", [at = session.get()](int) { at->Work(); }));
  return session;
}

TraceSession::~TraceSession() { static_cast<void>(Finish()); }

void TraceSession::BeginWindow() {
  int64_t none = 0;
  window_began_ns_.compare_exchange_strong(none, NowNs());
}

Result<TraceReport> TraceSession::Finish() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  writer_.Join();
  if (!error_.ok()) return error_;
  return report_;
}

void TraceSession::Work() {
  const auto asked = [this]() STOKER_REQUIRES(mutex_) { return ending_; };
  for (bool over = false; !over;) {
    {
      const MutexLock lock(mutex_);
      over = changed_.WaitFor(mutex_, kLookEvery, asked);
    }
    over = over || MustEnd();
    if (over) recorder_->Stop();
    WriteNewEvents();
  }
  WriteEnd();
}

bool TraceSession::MustEnd() const {
  const bool only_trace = outputs_.flame.empty() && outputs_.folded.empty();
  if (only_trace && file_ && file_->is_full()) return true;
  const int64_t began = window_began_ns_;
  return began != 0 && static_cast<double>(NowNs() - began) * 1e-9 >= outputs_.seconds;
}

void TraceSession::WriteNewEvents() {
  recorder_->Drain([this](const TraceThread& thread, std::span<const TraceEvent> events) {
    if (file_) file_->Add(thread, events);
  });
  if (!file_) return;
  if (looks_++ % kLooksBetweenMemory == 0) WriteMemory();
  Keep(file_->Flush());
}

void TraceSession::WriteMemory() {
  const TraceEvent resident{.name = "resident memory",
                            .begin_ns = NowNs(),
                            .end_ns = ResidentBytes(),
                            .kind = TraceKind::kBytes};
  file_->Add({.id = ::getpid(), .name = "main"}, std::span(&resident, 1));
}

void TraceSession::WriteEnd() {
  report_.seconds = static_cast<double>(NowNs() - recorder_->began_ns()) * 1e-9;
  report_.losses = recorder_->losses();
  if (file_) {
    report_.events = file_->events();
    report_.full = file_->is_full();
    file_->AddMark("end of the trace",
                   {{"left out", LossesJson(report_.losses)}, {"full", report_.full}});
    Keep(file_->Flush());
  }
  const std::vector<TraceThreadStacks> stacks = recorder_->Stacks();
  if (!outputs_.flame.empty())
    Keep(WriteFileAtomically(outputs_.flame, FlameGraphSvg(stacks, command_)));
  if (!outputs_.folded.empty()) Keep(WriteFileAtomically(outputs_.folded, FoldedStacks(stacks)));
}

void TraceSession::Keep(const Status& status) {
  if (error_.ok()) error_ = status;
}

}  // namespace stoker
