#include "stoker/base/trace_recorder.h"

#include <numeric>
#include <string_view>
#include <utility>

#include "stoker/base/trace_buffer_internal.h"

namespace stoker {
namespace {

using internal::TraceBuffer;
using internal::TraceBuffers;

// "decode" of "decode12".
std::string WithoutNumber(std::string_view thread) {
  const size_t end = thread.find_last_not_of("0123456789");
  return std::string(end == std::string_view::npos ? thread : thread.substr(0, end + 1));
}

void AddThread(const TraceBuffer& buffer, std::map<std::string, TraceThreadStacks>& threads) {
  std::string name = WithoutNumber(buffer.thread().name);
  TraceThreadStacks& all = threads[name];
  all.thread = std::move(name);
  ++all.threads;
  buffer.AddStacks(all.stacks);
}

}  // namespace

int64_t TraceStack::self_ns() const {
  return std::accumulate(
      children.begin(), children.end(), total_ns,
      [](int64_t left, const TraceStack& child) { return left - child.total_ns; });
}

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::Start() {
  const uint32_t session = TraceBuffers::Of().Open();
  if (session == 0) return FailedPrecondition("spans are being recorded already in this process");
  std::unique_ptr<TraceRecorder> recorder(new TraceRecorder(session));
  internal::trace_session = session;
  return recorder;
}

TraceRecorder::TraceRecorder(uint32_t session) : session_(session) {}

TraceRecorder::~TraceRecorder() {
  Stop();
  TraceBuffers::Of().Close();
}

void TraceRecorder::Stop() {
  uint32_t mine = session_;
  internal::trace_session.compare_exchange_strong(mine, 0);
}

void TraceRecorder::Drain(const Take& take) {
  std::vector<TraceEvent> events;
  for (const std::shared_ptr<TraceBuffer>& buffer : TraceBuffers::Of().All()) {
    const bool over = buffer->closed();  // read first: then nothing follows what is taken
    events.clear();
    buffer->TakeEvents(events);
    if (!events.empty()) take(buffer->thread(), events);
    if (over) Retire(*buffer);
  }
}

// Keeps the sums of a thread that has ended.
void TraceRecorder::Retire(const TraceBuffer& buffer) {
  AddThread(buffer, ended_);
  buffer.AddLosses(ended_losses_);
  TraceBuffers::Of().Drop(buffer);
}

std::vector<TraceThreadStacks> TraceRecorder::Stacks() const {
  std::map<std::string, TraceThreadStacks> threads = ended_;
  for (const std::shared_ptr<TraceBuffer>& buffer : TraceBuffers::Of().All())
    AddThread(*buffer, threads);
  std::vector<TraceThreadStacks> all;
  for (auto& [name, stacks] : threads) {
    if (!stacks.stacks.empty()) all.push_back(std::move(stacks));
  }
  return all;
}

TraceLosses TraceRecorder::losses() const {
  TraceLosses losses = ended_losses_;
  for (const std::shared_ptr<TraceBuffer>& buffer : TraceBuffers::Of().All())
    buffer->AddLosses(losses);
  losses.unheld = TraceBuffers::Of().unheld();
  return losses;
}

}  // namespace stoker
