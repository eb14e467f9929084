#include "stoker/formats/hdf5/btree2_internal.h"

#include <bit>
#include <vector>

namespace stoker::internal {
namespace {

constexpr std::string_view kTree = "a B-tree";
constexpr uint64_t kNodeOverhead = 10;  // signature, version, type, checksum
constexpr uint16_t kDeepest = 32;

class Tree {
 public:
  using Visit = std::function<Status(Hdf5Cursor record, uint64_t size)>;
  Tree(const Hdf5Content& file, uint8_t type, const Visit& visit)
      : file_(file), type_(type), visit_(visit) {}

  Status Read(uint64_t at) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("BTHD") || in.U8() != 0 || in.U8() != type_) in.Fail();
    node_bytes_ = in.U32();
    record_bytes_ = in.U16();
    const uint16_t depth = in.U16();
    in.Skip(2);  // when nodes are split and merged
    const uint64_t root = in.Address();
    const uint16_t records = in.U16();
    in.Length();  // of all nodes
    if (node_bytes_ <= kNodeOverhead || record_bytes_ < 8 || depth > kDeepest) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(at, kTree));
    STOKER_RETURN_IF_ERROR(CheckMetadata(file_, at, in.at(), kTree));
    if (root == kNoAddress) return OkStatus();  // it is empty
    if (!SetLevels(depth)) return file_.Damaged(at, "the sizes of a B-tree make no sense");
    return ReadNode(root, depth, records);
  }

 private:
  // For a node at a level: bytes of a pointer to one, and how many records lie in it and below.
  struct Level {
    uint64_t pointer_bytes = 0, records_below = 0;
    int total_bytes = 0;  // of the number of all records below, in a pointer to it
  };

  bool SetLevels(uint16_t depth) {
    const uint64_t in_leaf = (node_bytes_ - kNodeOverhead) / record_bytes_;
    if (in_leaf == 0) return false;
    count_bytes_ = BytesToStore(in_leaf);
    levels_.push_back({.records_below = in_leaf});
    for (uint16_t level = 1; level <= depth; ++level) {
      const Level& below = levels_.back();
      Level here;
      here.pointer_bytes = static_cast<uint64_t>(file_.address_bytes + count_bytes_) +
                           static_cast<uint64_t>(below.total_bytes);
      if (node_bytes_ < kNodeOverhead + here.pointer_bytes) return false;
      const uint64_t records =
          (node_bytes_ - kNodeOverhead - here.pointer_bytes) / (record_bytes_ + here.pointer_bytes);
      if (records == 0 || below.records_below > (uint64_t{1} << 48) / (records + 1)) return false;
      here.records_below = (records + 1) * below.records_below + records;
      here.total_bytes = BytesToStore(here.records_below);
      levels_.push_back(here);
    }
    return true;
  }

  Status ReadNode(uint64_t at, uint16_t level, uint64_t records) {
    // Nodes that are reached twice would let a small file hold any number of records.
    if (++nodes_ > file_.bytes.size() / kNodeOverhead)
      return file_.Damaged(at, "a B-tree leads back to itself");
    Hdf5Cursor in(file_, at);
    if (!in.Take(level > 0 ? "BTIN" : "BTLF") || in.U8() != 0 || in.U8() != type_) in.Fail();
    const uint64_t first = in.at();
    in.Skip(records * record_bytes_);
    struct Child {
      uint64_t at, records;
    };
    std::vector<Child> children;
    for (uint64_t i = 0; level > 0 && i <= records && !in.failed(); ++i) {
      const uint64_t child = in.Address();
      children.push_back({child, in.Number(count_bytes_)});
      in.Number(levels_[level - 1].total_bytes);
      if (child == kNoAddress) in.Fail();
    }
    STOKER_RETURN_IF_ERROR(in.Check(at, kTree));
    STOKER_RETURN_IF_ERROR(CheckMetadata(file_, at, in.at(), kTree));
    for (uint64_t i = 0; i < records; ++i) {
      STOKER_RETURN_IF_ERROR(
          visit_(Hdf5Cursor(file_, first + i * record_bytes_, record_bytes_), record_bytes_));
    }
    for (const Child& child : children)
      STOKER_RETURN_IF_ERROR(ReadNode(child.at, static_cast<uint16_t>(level - 1), child.records));
    return OkStatus();
  }

  const Hdf5Content& file_;
  const uint8_t type_;
  const Visit& visit_;
  uint64_t node_bytes_ = 0, record_bytes_ = 0;
  int count_bytes_ = 0;
  std::vector<Level> levels_;
  uint64_t nodes_ = 0;
};

}  // namespace

Status VisitBTree2(const Hdf5Content& file, uint64_t at, uint8_t type,
                   const std::function<Status(Hdf5Cursor record, uint64_t size)>& visit) {
  return Tree(file, type, visit).Read(at);
}

int BytesToStore(uint64_t most) {
  return most == 0 ? 1 : (static_cast<int>(std::bit_width(most)) - 1) / 8 + 1;
}

}  // namespace stoker::internal
