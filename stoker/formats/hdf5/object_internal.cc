#include "stoker/formats/hdf5/object_internal.h"

#include <algorithm>
#include <utility>

namespace stoker::internal {
namespace {

constexpr std::string_view kHeader = "an object header";
// More than any program writes; headers that go round in a circle end here.
constexpr size_t kMostMessages = 1 << 14, kMostBlocks = 1 << 12;
constexpr uint8_t kShared = 2;

struct Block {
  uint64_t at, bytes;
};

class ObjectReader {
 public:
  ObjectReader(const Hdf5Content& file, uint64_t at) : file_(file) { object_.at = at; }

  Result<Hdf5Object> Read() {
    Hdf5Cursor start(file_, object_.at);
    const bool second = start.Take("OHDR");
    STOKER_RETURN_IF_ERROR(second ? BeginVersion2() : BeginVersion1());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (i == kMostBlocks || object_.messages.size() > kMostMessages)
        return file_.Damaged(object_.at, "an object header has no end");
      STOKER_RETURN_IF_ERROR(second ? ReadBlock2(blocks_[i], i > 0) : ReadBlock1(blocks_[i]));
    }
    return std::move(object_);
  }

 private:
  Status BeginVersion1() {
    Hdf5Cursor in(file_, object_.at);
    const uint8_t version = in.U8();
    in.Skip(7);  // a reserved byte, how many messages, how many links lead here
    const uint64_t bytes = in.U32();
    in.Skip(4);
    if (version != 1) in.Fail();
    blocks_.push_back({in.at(), bytes});
    return in.Check(object_.at, kHeader);
  }

  Status BeginVersion2() {
    Hdf5Cursor in(file_, object_.at);
    in.Skip(4);
    if (in.U8() != 2) in.Fail();
    const uint8_t flags = in.U8();
    if ((flags & 0x20) != 0) in.Skip(16);  // times
    if ((flags & 0x10) != 0) in.Skip(4);   // when attributes are stored apart
    const uint64_t bytes = in.Number(1 << (flags & 3));
    ordered_ = (flags & 4) != 0;
    if (bytes > in.left()) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(object_.at, kHeader));
    blocks_.push_back({in.at(), bytes});
    return CheckMetadata(file_, object_.at, in.at() + bytes, kHeader);
  }

  Status ReadBlock1(Block block) {
    Hdf5Cursor in(file_, block.at, block.bytes);
    while (!in.failed() && in.left() >= 8) {
      const uint16_t type = in.U16(), bytes = in.U16();
      const uint8_t flags = in.U8();
      in.Skip(3);
      STOKER_RETURN_IF_ERROR(Add(type, flags, in, bytes));
    }
    return in.Check(block.at, kHeader);
  }

  Status ReadBlock2(Block block, bool continued) {
    if (continued) {
      Hdf5Cursor in(file_, block.at, block.bytes);
      if (!in.Take("OCHK") || block.bytes < 8) in.Fail();
      STOKER_RETURN_IF_ERROR(in.Check(block.at, kHeader));
      STOKER_RETURN_IF_ERROR(CheckMetadata(file_, block.at, block.at + block.bytes - 4, kHeader));
      block = {block.at + 4, block.bytes - 8};
    }
    Hdf5Cursor in(file_, block.at, block.bytes);
    const uint64_t head = ordered_ ? 6 : 4;
    while (!in.failed() && in.left() >= head) {
      const uint8_t type = in.U8();
      const uint16_t bytes = in.U16();
      const uint8_t flags = in.U8();
      if (ordered_) in.Skip(2);
      STOKER_RETURN_IF_ERROR(Add(type, flags, in, bytes));
    }
    return in.Check(block.at, kHeader);
  }

  Status Add(uint16_t type, uint8_t flags, Hdf5Cursor& in, uint64_t bytes) {
    const Hdf5Message message{static_cast<Hdf5MessageType>(type), in.at(), bytes,
                              (flags & kShared) != 0};
    in.Skip(bytes);
    if (in.failed()) return in.Check(message.at, kHeader);
    if (message.type != Hdf5MessageType::kContinuation) {
      object_.messages.push_back(message);
      return OkStatus();
    }
    Hdf5Cursor data(file_, message.at, message.bytes);
    const uint64_t address = data.Address();
    const uint64_t length = data.Length();
    if (address == kNoAddress) data.Fail();
    blocks_.push_back({address, length});
    return data.Check(message.at, kHeader);
  }

  const Hdf5Content& file_;
  Hdf5Object object_;
  std::vector<Block> blocks_;
  bool ordered_ = false;
};

}  // namespace

const Hdf5Message* Hdf5Object::Find(Hdf5MessageType type) const {
  const auto found = std::ranges::find(messages, type, &Hdf5Message::type);
  return found == messages.end() ? nullptr : &*found;
}

Result<Hdf5Object> ReadHdf5Object(const Hdf5Content& file, uint64_t at) {
  return ObjectReader(file, at).Read();
}

Result<Hdf5Message> ResolveMessage(const Hdf5Content& file, const Hdf5Message& message) {
  if (!message.shared) return message;
  Hdf5Cursor in(file, message.at, message.bytes);
  const uint8_t version = in.U8(), type = in.U8();
  if (version == 1) in.Skip(6);
  if (version == 3 && type == 1)
    return Unimplemented(
        "{}: byte {}: a message shared through a heap is not known; h5repack "
        "writes the file without",
        file.name, message.at);
  const uint64_t address = in.Address();
  if (version < 1 || version > 3 || address == kNoAddress) in.Fail();
  STOKER_RETURN_IF_ERROR(in.Check(message.at, "a shared message"));
  STOKER_ASSIGN_OR_RETURN(const Hdf5Object object, ReadHdf5Object(file, address));
  const Hdf5Message* const found = object.Find(message.type);
  if (found == nullptr || found->shared)
    return file.Damaged(message.at, "a shared message leads nowhere");
  return *found;
}

}  // namespace stoker::internal
