// A libcupti.so.13 that hands over records as CUPTI's Activity API does, on a machine that has no
// GPU. STOKER_FAKE_CUPTI is "refuse", or names a file that says what a second of a real program
// had, which is repeated for as long as the process lives:
//   kernel COUNT NANOSECONDS NAME
//   copy COUNT NANOSECONDS BYTES pageable|pinned|to_host
//   wait COUNT NANOSECONDS
//   # anything
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kNoMoreRecords = 12, kRefused = 39;
constexpr size_t kRecordBytes = 160;
constexpr uint32_t kMemcpy = 1, kSynchronization = 38, kConcurrentKernel = 10;

struct Line {
  std::string kind, name;
  double count = 0, ns = 0, bytes = 0;
};

void (*requested)(uint8_t**, size_t*, size_t*) = nullptr;
void (*completed)(void*, uint32_t, uint8_t*, size_t, size_t) = nullptr;
std::vector<Line>* lines = nullptr;
uint64_t clock_ns = 1;
std::chrono::steady_clock::time_point enabled;

template <typename T>
void Put(uint8_t* record, size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

// The fields that cupti_activity.h has at these places.
void Fill(uint8_t* record, const Line& line, uint64_t start) {
  const uint64_t end = start + static_cast<uint64_t>(line.ns);
  std::memset(record, 0, kRecordBytes);
  if (line.kind == "wait") {
    Put(record, 0, kSynchronization);
    Put(record, 4, uint32_t{3});  // cudaStreamSynchronize
    Put(record, 8, start);
    Put(record, 16, end);
    return;
  }
  Put(record, 16, start);
  Put(record, 24, end);
  if (line.kind == "kernel") {
    Put(record, 0, kConcurrentKernel);
    Put(record, 104, line.name.c_str());
    return;
  }
  Put(record, 0, kMemcpy);
  const bool to_host = line.name == "to_host";
  Put(record, 4, static_cast<uint8_t>(to_host ? 2 : 1));
  Put(record, 5, static_cast<uint8_t>(to_host ? 3 : line.name == "pageable" ? 1 : 2));
  Put(record, 8, static_cast<uint64_t>(line.bytes));
}

class Buffer {
 public:
  ~Buffer() { Send(); }
  void Add(const Line& line, uint64_t start) {
    if (data_ != nullptr && used_ + kRecordBytes > size_) Send();
    if (data_ == nullptr) {
      size_t most = 0;
      requested(&data_, &size_, &most);
      if (data_ == nullptr) return;
    }
    Fill(data_ + used_, line, start);
    used_ += kRecordBytes;
  }

 private:
  void Send() {
    if (data_ != nullptr) completed(nullptr, 0, data_, size_, used_);
    data_ = nullptr;
    used_ = 0;
  }
  uint8_t* data_ = nullptr;
  size_t size_ = 0, used_ = 0;
};

// What the time since the kinds were enabled had, one record after the other.
void Deliver(double seconds) {
  Buffer buffer;
  for (const Line& line : *lines) {
    for (double n = 0; n + 0.5 < seconds * line.count; ++n) {
      buffer.Add(line, clock_ns);
      clock_ns += static_cast<uint64_t>(line.ns) + 1;
    }
  }
}

void Read(const char* path) {
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Line line;
    words >> line.kind >> line.count >> line.ns;
    if (line.kind == "copy") words >> line.bytes;
    words >> line.name;
    if (!line.kind.empty() && line.kind != "#") lines->push_back(line);
  }
}

}  // namespace

extern "C" {

int cuptiActivityRegisterCallbacks(decltype(requested) request, decltype(completed) complete) {
  const char* const what = std::getenv("STOKER_FAKE_CUPTI");
  if (what != nullptr && std::strcmp(what, "refuse") == 0) return kRefused;
  requested = request;
  completed = complete;
  lines = new std::vector<Line>;
  if (what != nullptr) Read(what);
  return kSuccess;
}
int cuptiActivityEnable(uint32_t kind) {
  if (kind == kConcurrentKernel) enabled = std::chrono::steady_clock::now();
  return kSuccess;
}
int cuptiActivityDisable(uint32_t kind) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - enabled;
  if (kind == kConcurrentKernel) Deliver(passed.count());
  return kSuccess;
}
int cuptiActivityFlushAll(uint32_t) { return kSuccess; }
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  *dropped = 0;
  return kSuccess;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  uint8_t* const next = *record == nullptr ? buffer : *record + kRecordBytes;
  if (next + kRecordBytes > buffer + valid) return kNoMoreRecords;
  *record = next;
  return kSuccess;
}
}
