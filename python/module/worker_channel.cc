#include "python/module/worker_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "stoker/base/stop_scope.h"

namespace stoker::python {
namespace {

// The messages, as wire.py has them. Little-endian, like every CPU that Stoker runs on.
struct RequestHead {
  uint32_t task = 0, function = 0;
  int64_t rows = 0;
  uint64_t seeds = 0;  // offset; 0: none
  uint32_t arrays = 0, number = 0;
};
struct ArrayHead {
  uint32_t dtype, dimensions;
  uint64_t offset;
};
struct AnswerHead {
  uint32_t outcome, number;
  int64_t row;
  uint64_t bytes;  // of the answer's memory
  uint32_t elements, fields;
};

constexpr size_t kLongestMessage = size_t{128} << 10;
constexpr size_t kAlignment = 64;
constexpr size_t kGrowBy = size_t{64} << 10;  // memory grows in such steps, and by an eighth

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

template <typename T>
void Append(const T& value, std::string& text) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Takes values off the front of a message.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}
  template <typename T>
  bool Read(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace

// --- SharedMemory

SharedMemory::~SharedMemory() { Reset(-1); }

void SharedMemory::Reset(int descriptor) {
  Unmap();
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = descriptor;
}

void SharedMemory::Unmap() {
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

Status SharedMemory::Grow(size_t bytes) {
  if (bytes <= size_) return OkStatus();
  const size_t wanted = (bytes + bytes / 8 + kGrowBy - 1) / kGrowBy * kGrowBy;
  // Not ftruncate alone: a page that the system cannot give later would end the process that
  // touches it.
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(descriptor_, 0, static_cast<off_t>(wanted));
  if (error != 0) {
    return ResourceExhausted(
        "{} bytes for the arguments of a function of Python cannot be had: {}; use fewer workers "
        "or smaller elements",
        wanted, std::strerror(error));
  }
  return Map(wanted);
}

Status SharedMemory::Map(size_t bytes) {
  if (bytes == size_) return OkStatus();
  Unmap();
  if (bytes == 0) return OkStatus();
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    return ResourceExhausted(
        "{} bytes of a worker process cannot be mapped: {}; use fewer workers or smaller elements",
        bytes, std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(mapped);
  size_ = bytes;
  return OkStatus();
}

// --- WorkerChannel

WorkerChannel::WorkerChannel(int socket, int process)
    : owner_(getpid()),
      socket_(socket),
      process_(process),
      process_descriptor_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {}

// The end of the socket would not tell the worker: processes that were forked since have copies of
// it.
WorkerChannel::~WorkerChannel() {
  if (owner_ == getpid()) {
    const RequestHead quit{.task = static_cast<uint32_t>(WorkerTask::kQuit)};
    static_cast<void>(send(socket_, &quit, sizeof(quit), MSG_NOSIGNAL | MSG_DONTWAIT));
    // Nobody wants what it is doing, which may take for ever.
    if (awaited_ && maps_) syscall(SYS_pidfd_send_signal, process_descriptor_, SIGTERM, nullptr, 0);
  }
  close(socket_);
  if (process_descriptor_ >= 0) close(process_descriptor_);
}

bool WorkerChannel::busy() const {
  if (!awaited_) return false;
  pollfd waited{.fd = socket_, .events = POLLIN, .revents = 0};
  return poll(&waited, 1, 0) == 0;
}

Status WorkerChannel::Send(const WorkerRequest& request) {
  const bool answered = request.task != WorkerTask::kEnd;
  if (!answered && !greeted_) return OkStatus();  // it has begun nothing
  STOKER_RETURN_IF_ERROR(Greet());
  if (answered && awaited_) {
    STOKER_RETURN_IF_ERROR(WaitForMessage());
    awaited_ = false;
  }
  if (answered) ++number_;
  std::string message;
  STOKER_RETURN_IF_ERROR(PutArrays(request, message));
  ssize_t sent = -1;
  do {
    sent = send(socket_, message.data(), message.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return Ended();
  awaited_ = awaited_ || answered;
  maps_ = request.task == WorkerTask::kMap;
  return OkStatus();
}

Result<WorkerAnswer> WorkerChannel::Receive() {
  STOKER_RETURN_IF_ERROR(WaitForMessage());
  awaited_ = false;
  return ParseAnswer();
}

// A worker begins with the two files of its memory.
Status WorkerChannel::Greet() {
  if (greeted_) return OkStatus();
  STOKER_RETURN_IF_ERROR(WaitForMessage());
  greeted_ = true;
  return OkStatus();
}

Status WorkerChannel::PutArrays(const WorkerRequest& request, std::string& message) {
  size_t bytes = kAlignment;  // 0 is no offset
  for (const Array& array : request.arrays) bytes += Aligned(array.num_bytes());
  const size_t seeds = bytes;
  bytes += request.seeds.size_bytes();
  if (request.task == WorkerTask::kMap) STOKER_RETURN_IF_ERROR(request_.Grow(bytes));
  Append(RequestHead{.task = static_cast<uint32_t>(request.task),
                     .function = request.function,
                     .rows = request.rows,
                     .seeds = request.seeds.empty() ? 0 : seeds,
                     .arrays = static_cast<uint32_t>(request.arrays.size()),
                     .number = number_},
         message);
  size_t offset = kAlignment;
  for (const Array& array : request.arrays) {
    Append(ArrayHead{.dtype = static_cast<uint32_t>(array.dtype()),
                     .dimensions = static_cast<uint32_t>(array.shape().size()),
                     .offset = offset},
           message);
    for (const int64_t extent : array.shape()) Append(extent, message);
    if (array.num_bytes() > 0)
      std::memcpy(request_.data() + offset, array.data(), array.num_bytes());
    offset += Aligned(array.num_bytes());
  }
  if (!request.seeds.empty())
    std::memcpy(request_.data() + seeds, request.seeds.data(), request.seeds.size_bytes());
  if (message.size() > kLongestMessage) {
    return InvalidArgument(
        "an element has {} fields, too many to send to a worker process; drop some before the "
        "function",
        request.arrays.size());
  }
  return OkStatus();
}

Status WorkerChannel::WaitForMessage() {
  STOKER_RETURN_IF_ERROR(broken_);
  std::array<pollfd, 2> waited{{{.fd = socket_, .events = POLLIN, .revents = 0},
                                {.fd = process_descriptor_, .events = POLLIN, .revents = 0}}};
  while (true) {
    const int ready =
        poll(waited.data(), waited.size(), static_cast<int>(StopScope::Interval().count()));
    if (ready < 0 && errno != EINTR)
      return Internal("poll of a worker process: {}", std::strerror(errno));
    // What a process sent before it ended comes first.
    if (ready > 0) return waited[0].revents != 0 ? ReadMessage() : Ended();
    if (StopScope::Asked()) return Cancelled("a function of Python: asked to stop");
  }
}

Status WorkerChannel::ReadMessage() {
  message_.resize(kLongestMessage);
  iovec data{.iov_base = message_.data(), .iov_len = message_.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> along{};
  msghdr head{};
  head.msg_iov = &data;
  head.msg_iovlen = 1;
  head.msg_control = along.data();
  head.msg_controllen = along.size();
  ssize_t size = -1;
  do {
    size = recvmsg(socket_, &head, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return Ended();
  message_.resize(static_cast<size_t>(size));
  TakeFiles(head);
  if ((head.msg_flags & MSG_CTRUNC) == 0) return OkStatus();
  // What was lost is the memory that the next arguments belong into.
  return Break(
      ResourceExhausted("the memory of a worker process cannot be opened, for this process has as "
                        "many files open as it may: close some, or allow more (ulimit -n)"));
}

void WorkerChannel::TakeFiles(msghdr& message) {
  const cmsghdr* const files = CMSG_FIRSTHDR(&message);
  if (files == nullptr || files->cmsg_type != SCM_RIGHTS) return;
  std::array<int, 2> descriptors{-1, -1};
  std::memcpy(descriptors.data(), CMSG_DATA(files),
              std::min(sizeof(descriptors), files->cmsg_len - CMSG_LEN(0)));
  // Of two the second is for answers. A single one takes the place of the first, which the function
  // still uses.
  request_.Reset(descriptors[0]);
  if (descriptors[1] >= 0) answer_.Reset(descriptors[1]);
}

Status WorkerChannel::Break(Status why) {
  if (broken_.ok()) broken_ = std::move(why);
  return broken_;
}

Result<WorkerAnswer> WorkerChannel::Garbled() {
  return Break(Unavailable(
      "the worker process {}, which called it, has sent a message that makes no sense; does a "
      "function of the pipeline write to descriptors or memory that are not its own?",
      process_));
}

Result<WorkerAnswer> WorkerChannel::ParseAnswer() {
  MessageReader reader(message_);
  AnswerHead head{};
  if (!reader.Read(head) || head.number != number_) return Garbled();
  if (head.elements > 0 && head.fields == 0) return Garbled();
  STOKER_RETURN_IF_ERROR(answer_.Map(head.bytes));
  WorkerAnswer answer;
  answer.outcome = static_cast<WorkerAnswer::Outcome>(head.outcome);
  answer.row = head.row;
  for (uint32_t e = 0; e < head.elements; ++e) {
    std::vector<WorkerArray>& arrays = answer.elements.emplace_back();
    for (uint32_t f = 0; f < head.fields; ++f) {
      ArrayHead array{};
      if (!reader.Read(array) || array.dtype > static_cast<uint32_t>(DType::kFloat64))
        return Garbled();
      Shape shape;
      for (uint32_t d = 0; d < array.dimensions; ++d) {
        int64_t extent = -1;
        if (!reader.Read(extent) || extent < 0) return Garbled();
        shape.push_back(extent);
      }
      const auto dtype = static_cast<DType>(array.dtype);
      uint64_t bytes = DTypeSize(dtype);
      for (const int64_t extent : shape) {
        if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return Garbled();
      }
      if (array.offset > head.bytes || bytes > head.bytes - array.offset) return Garbled();
      arrays.push_back({dtype, std::move(shape), answer_.data() + array.offset});
    }
  }
  const bool lacks_result =
      answer.outcome == WorkerAnswer::Outcome::kDone && maps_ && answer.elements.size() != 1;
  if (lacks_result) return Garbled();
  answer.text = reader.rest();
  return answer;
}

Status WorkerChannel::Ended() {
  siginfo_t how{};
  // Looks without taking: multiprocessing waits for its processes itself. A process whose socket is
  // closed may still be ending.
  pollfd waited{.fd = process_descriptor_, .events = POLLIN, .revents = 0};
  if (process_descriptor_ >= 0) poll(&waited, 1, 1000);
  const auto id = static_cast<id_t>(process_);
  const bool known =
      waitid(P_PID, id, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == process_;
  if (known && how.si_code != CLD_EXITED) {
    const int signal = how.si_status;
    return Break(
        Unavailable("the worker process {}, which called it, was ended by signal {} ({}){}",
                    process_, signal, strsignal(signal),
                    signal == SIGKILL ? "; the system does that when memory runs out: use fewer "
                                        "workers, or look at the system's log"
                                      : ""));
  }
  if (known) {
    return Break(
        Unavailable("the worker process {}, which called it, has exited with status {}; what it "
                    "wrote to standard error says why",
                    process_, how.si_status));
  }
  return Break(
      Unavailable("the worker process {}, which called it, has ended; what it wrote to standard "
                  "error may say why",
                  process_));
}

}  // namespace stoker::python
