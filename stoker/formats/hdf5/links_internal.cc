#include "stoker/formats/hdf5/links_internal.h"

#include <optional>
#include <utility>

#include "stoker/formats/hdf5/btree2_internal.h"
#include "stoker/formats/hdf5/fractal_heap_internal.h"

namespace stoker::internal {
namespace {

constexpr std::string_view kTable = "the symbol table of a group", kLink = "a link";
// A tree of names is not deeper, however many there are.
constexpr int kDeepest = 32;

// Groups as they were first: a B-tree of tables whose names lie in a heap.
class SymbolTables {
 public:
  SymbolTables(const Hdf5Content& file, std::vector<Hdf5Link>& links)
      : file_(file), links_(links) {}

  Status Read(const Hdf5Message& message) {
    Hdf5Cursor in(file_, message.at, message.bytes);
    const uint64_t tree = in.Address(), heap = in.Address();
    STOKER_RETURN_IF_ERROR(in.Check(message.at, kTable));
    Hdf5Cursor names(file_, heap);
    if (!names.Take("HEAP") || names.U8() != 0) names.Fail();
    names.Skip(3);
    names_bytes_ = names.Length();
    names.Length();  // the first free place
    names_ = names.Address();
    if (names_ == kNoAddress || !file_.Holds(names_, names_bytes_)) names.Fail();
    STOKER_RETURN_IF_ERROR(names.Check(heap, kTable));
    return ReadNode(tree, kDeepest);
  }

 private:
  Status ReadNode(uint64_t at, int highest) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("TREE") || in.U8() != 0) in.Fail();
    const int level = in.U8();
    // Nodes that are reached twice would make a small file endless.
    if (level > highest || ++nodes_ > file_.bytes.size() / 8) in.Fail();
    const uint16_t count = in.U16();
    in.Address(), in.Address();  // the neighbours
    for (uint16_t i = 0; i < count && !in.failed(); ++i) {
      in.Length();  // the first name below
      const uint64_t child = in.Address();
      if (in.failed()) break;
      STOKER_RETURN_IF_ERROR(level > 0 ? ReadNode(child, level - 1) : ReadTable(child));
    }
    return in.Check(at, kTable);
  }

  Status ReadTable(uint64_t at) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("SNOD") || in.U8() != 1) in.Fail();
    in.Skip(1);
    const uint16_t count = in.U16();
    for (uint16_t i = 0; i < count && !in.failed(); ++i) {
      const uint64_t name = in.Number(file_.address_bytes);
      const uint64_t address = in.Address();
      const uint32_t kind = in.U32();
      in.Skip(4);
      const uint32_t target = in.U32();
      in.Skip(12);
      if (in.failed()) break;
      Hdf5Link link{.name = {}, .address = address};
      constexpr uint32_t kByName = 2;
      if (!NameAt(name, link.name) || (kind == kByName && !NameAt(target, link.target)) ||
          links_.size() >= file_.bytes.size())
        in.Fail();
      links_.push_back(std::move(link));
    }
    return in.Check(at, kTable);
  }

  // The text at this place of the heap, up to a byte 0.
  bool NameAt(uint64_t at, std::string& name) const {
    if (at >= names_bytes_) return false;
    if (!file_.file.Load(names_ + at, names_bytes_ - at).ok()) return false;
    const std::string_view heap(reinterpret_cast<const char*>(file_.bytes.data()) + names_ + at,
                                names_bytes_ - at);
    const size_t end = heap.find('\0');
    if (end == heap.npos) return false;
    name = heap.substr(0, end);
    return true;
  }

  const Hdf5Content& file_;
  std::vector<Hdf5Link>& links_;
  uint64_t names_ = 0, names_bytes_ = 0;
  uint64_t nodes_ = 0;
};

Result<Hdf5Link> ParseLink(const Hdf5Content& file, uint64_t at, uint64_t bytes) {
  Hdf5Cursor in(file, at, bytes);
  if (in.U8() != 1) in.Fail();
  const uint8_t flags = in.U8();
  const uint8_t kind = (flags & 8) != 0 ? in.U8() : 0;
  if ((flags & 4) != 0) in.Skip(8);   // when it was made
  if ((flags & 16) != 0) in.Skip(1);  // how the name is encoded
  Hdf5Link link{.name = std::string(in.Text(in.Number(1 << (flags & 3))))};
  if (kind == 0) {
    link.address = in.Address();
    if (link.address == kNoAddress) in.Fail();
  } else {
    constexpr uint8_t kSoft = 1;
    link.target = in.Text(in.U16());
    link.external = kind != kSoft;
  }
  STOKER_RETURN_IF_ERROR(in.Check(at, kLink));
  return link;
}

// Groups with more links than are kept as messages.
Status ReadIndexed(const Hdf5Content& file, const Hdf5Message& info, std::vector<Hdf5Link>& links) {
  Hdf5Cursor in(file, info.at, info.bytes);
  if (in.U8() != 0) in.Fail();
  if ((in.U8() & 1) != 0) in.Skip(8);
  const uint64_t heap_at = in.Address(), tree_at = in.Address();
  STOKER_RETURN_IF_ERROR(in.Check(info.at, "an index of links"));
  if (heap_at == kNoAddress || tree_at == kNoAddress) return OkStatus();  // all are messages
  STOKER_ASSIGN_OR_RETURN(const FractalHeap heap, FractalHeap::Open(file, heap_at));
  constexpr uint8_t kByName = 5;
  return VisitBTree2(file, tree_at, kByName, [&](Hdf5Cursor record, uint64_t size) -> Status {
    record.Skip(4);  // a hash of the name
    STOKER_ASSIGN_OR_RETURN(const FractalHeap::Place place, heap.Find(record, size - 4));
    STOKER_ASSIGN_OR_RETURN(Hdf5Link link, ParseLink(file, place.at, place.bytes));
    links.push_back(std::move(link));
    return OkStatus();
  });
}

}  // namespace

bool IsHdf5Group(const Hdf5Object& object) {
  return object.Find(Hdf5MessageType::kSymbolTable) != nullptr ||
         object.Find(Hdf5MessageType::kLinkInfo) != nullptr;
}

Result<std::vector<Hdf5Link>> ReadHdf5Links(const Hdf5Content& file, const Hdf5Object& group) {
  std::vector<Hdf5Link> links;
  for (const Hdf5Message& message : group.messages) {
    if (message.type == Hdf5MessageType::kSymbolTable)
      STOKER_RETURN_IF_ERROR(SymbolTables(file, links).Read(message));
    if (message.type == Hdf5MessageType::kLinkInfo)
      STOKER_RETURN_IF_ERROR(ReadIndexed(file, message, links));
    if (message.type == Hdf5MessageType::kLink) {
      STOKER_ASSIGN_OR_RETURN(Hdf5Link link, ParseLink(file, message.at, message.bytes));
      links.push_back(std::move(link));
    }
  }
  return links;
}

}  // namespace stoker::internal
