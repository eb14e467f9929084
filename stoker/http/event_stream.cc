#include "stoker/http/event_stream.h"

#include <utility>

namespace stoker {

std::string EventText(std::string_view name, std::string_view data) {
  std::string text;
  if (!name.empty()) {
    text += "event: ";
    for (const char c : name) {
      if (c != '\n' && c != '\r') text += c;
    }
    text += '\n';
  }
  text += "data: ";
  for (size_t i = 0; i < data.size(); ++i) {
    // CR LF is one line break.
    if (data[i] == '\r' && i + 1 < data.size() && data[i + 1] == '\n') continue;
    if (data[i] == '\n' || data[i] == '\r')
      text += "\ndata: ";
    else
      text += data[i];
  }
  return text + "\n\n";
}

HttpResponse EventStreamHead() {
  // A proxy that collects an answer before it passes it on would hold events back.
  return {.content_type = "text/event-stream", .headers = {{"X-Accel-Buffering", "no"}}};
}

void EventListeners::Add(HttpStream stream, std::string first) {
  const MutexLock lock(mutex_);
  if (!first.empty() && stream.Write(std::move(first)) == StreamWrite::kClosed) return;
  streams_.push_back(std::move(stream));
}

void EventListeners::Send(const std::string& event) {
  const MutexLock lock(mutex_);
  std::erase_if(streams_, [&](const HttpStream& stream) {
    return stream.Write(event) == StreamWrite::kClosed;
  });
}

void EventListeners::End(const std::string& event) {
  const MutexLock lock(mutex_);
  for (const HttpStream& stream : streams_) {
    stream.Write(event);
    stream.End();
  }
  streams_.clear();
}

size_t EventListeners::size() const {
  const MutexLock lock(mutex_);
  return streams_.size();
}

}  // namespace stoker
