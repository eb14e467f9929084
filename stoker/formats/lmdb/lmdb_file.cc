#include "stoker/formats/lmdb/lmdb_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace stoker {
namespace {

constexpr uint32_t kMagic = 0xbeefc0de;
constexpr uint32_t kVersion = 1;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr size_t kPageHeader = 16, kNodeHeader = 8, kDatabaseBytes = 48;
constexpr size_t kLeastPage = 512, kMostPage = 64 << 10;
// Where things stand in the page of a description, and in that of a database.
constexpr size_t kMagicAt = 16, kVersionAt = 20, kFreeAt = 40, kMainAt = 88, kTransactionAt = 144;
constexpr size_t kDescriptionEnd = 152;
constexpr size_t kFlagsAt = 4, kValuesAt = 32, kRootAt = 40;
// Trees are no deeper than what the numbers of pages allow.
constexpr int kDeepest = 32;

enum PageFlags : uint16_t {
  kBranch = 1,
  kLeaf = 2,
  kOverflow = 4,
  kDescription = 8,
  kKeysOnly = 32
};
enum NodeFlags : uint16_t { kBigValue = 1, kDatabase = 2, kSeveral = 4 };
constexpr uint16_t kSeveralValues = 4;  // of a database

struct DatabaseRecord {
  uint16_t flags = 0;
  uint64_t values = 0, root = kNoPage;
};

}  // namespace

// Goes through the tree of a database, from left to right. Where the file is not in memory, one
// page of each depth is held at a time.
class LmdbFile::Walk {
 public:
  Walk(LmdbFile& file, std::string_view prefix)
      : file_(file), bytes_(file.file_.size()), prefix_(prefix) {}

  // Reads the description that counts.
  Status FindMain(DatabaseRecord& main) {
    Buffer room;
    const uint64_t most = kMostPage + kDescriptionEnd;
    STOKER_ASSIGN_OR_RETURN(const Bytes start,
                            file_.file_.View(0, std::min<uint64_t>(bytes_, most), room));
    STOKER_ASSIGN_OR_RETURN(page_bytes_, PageBytes(start));
    // Both are written when a database is made, before anything is put into it.
    if (bytes_ < 2 * page_bytes_) {
      return DataLoss(
          "{}: byte {}: the file ends within its two descriptions of {} bytes; it is "
          "cut short: copy it again",
          file_.name(), bytes_, page_bytes_);
    }
    std::optional<uint64_t> newest;
    for (const uint64_t page : {0, 1}) {
      const uint64_t at = page * page_bytes_;
      if (at + kDescriptionEnd > start.size() || Load<uint32_t>(start, at + kMagicAt) != kMagic)
        continue;
      const auto transaction = Load<uint64_t>(start, at + kTransactionAt);
      if (newest && transaction <= *newest) continue;
      newest = transaction;
      main = DatabaseAt(start, at + kMainAt);
    }
    return OkStatus();  // PageBytes has found one
  }

  // Adds the values of a database, or only finds the one whose key is `wanted`, a database.
  Status Visit(const DatabaseRecord& database, std::optional<std::string_view> wanted) {
    wanted_ = wanted;
    if (!wanted && (database.flags & kSeveralValues) != 0) {
      return Unimplemented(
          "{}: the database has several values a key (DUPSORT), which are not read; copy it into "
          "one of a value a key",
          file_.name());
    }
    if (database.root == kNoPage) return OkStatus();
    STOKER_RETURN_IF_ERROR(VisitPage(database.root, 0));
    if (wanted || seen_ == database.values) return OkStatus();
    return DataLoss("{}: {} values are there, {} are announced; the file is damaged", file_.name(),
                    seen_, database.values);
  }

  const std::optional<DatabaseRecord>& found() const { return found_; }

 private:
  using Bytes = std::span<const std::byte>;

  template <typename T>
  static T Load(Bytes bytes, uint64_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  }

  static DatabaseRecord DatabaseAt(Bytes bytes, uint64_t at) {
    return {Load<uint16_t>(bytes, at + kFlagsAt), Load<uint64_t>(bytes, at + kValuesAt),
            Load<uint64_t>(bytes, at + kRootAt)};
  }

  // The page size in the first description, or if that is damaged, in the second.
  Result<uint64_t> PageBytes(Bytes start) const {
    for (uint64_t at = 0; at <= kMostPage; at = at == 0 ? kLeastPage : 2 * at) {
      if (at + kDescriptionEnd > start.size()) break;
      const auto page = Load<uint32_t>(start, at + kFreeAt);
      const bool good = Load<uint32_t>(start, at + kMagicAt) == kMagic &&
                        Load<uint32_t>(start, at + kVersionAt) == kVersion &&
                        std::has_single_bit(page) && page >= kLeastPage && page <= kMostPage &&
                        (at == 0 || at == page);
      if (good) return page;
    }
    return DataLoss(
        "{}: byte 0: this is no LMDB database of version {}, or it is damaged; check the path",
        file_.name(), kVersion);
  }

  Status Damaged(uint64_t page, std::string_view what) const {
    return DataLoss("{}: page {} (byte {}): {}; the file is damaged or was cut short", file_.name(),
                    page, page * page_bytes_, what);
  }

  Status VisitPage(uint64_t page, int depth) {
    if (page >= bytes_ / page_bytes_) return Damaged(page, "it is not in the file");
    if (depth > kDeepest || ++pages_ > bytes_ / page_bytes_)
      return Damaged(page, "the tree leads here again");
    STOKER_ASSIGN_OR_RETURN(
        const Bytes content,
        file_.file_.View(page * page_bytes_, page_bytes_, rooms_[static_cast<size_t>(depth)]));
    const auto flags = Load<uint16_t>(content, 10);
    const auto lower = Load<uint16_t>(content, 12);
    const bool branch = (flags & kBranch) != 0;
    if ((flags & (kBranch | kLeaf)) == 0 || (flags & (kOverflow | kDescription | kKeysOnly)) != 0)
      return Damaged(page, "it is neither a branch nor a leaf");
    if (lower < kPageHeader || lower > page_bytes_ || lower % 2 != 0)
      return Damaged(page, "its list of nodes has no length");
    for (uint64_t entry = kPageHeader; entry < lower; entry += 2) {
      const uint64_t node = Load<uint16_t>(content, entry);
      if (node < lower || node + kNodeHeader > page_bytes_ ||
          node + kNodeHeader + Load<uint16_t>(content, node + 6) > page_bytes_)
        return Damaged(page, "a node reaches beyond it");
      STOKER_RETURN_IF_ERROR(branch ? VisitPage(PageBelow(content, node), depth + 1)
                                    : VisitLeafNode(page, content, node));
    }
    return OkStatus();
  }

  static uint64_t PageBelow(Bytes content, uint64_t node) {
    return Load<uint32_t>(content, node) | uint64_t{Load<uint16_t>(content, node + 4)} << 32;
  }

  // Where the value begins whose overflow pages begin with `first`, as a node of `page` says.
  Result<uint64_t> BigValueAt(uint64_t page, uint64_t first) {
    if (first >= bytes_ / page_bytes_)
      return Damaged(page, "the value of a node is not in the file");
    std::array<std::byte, kPageHeader> header;
    STOKER_RETURN_IF_ERROR(file_.file_.ReadAt(first * page_bytes_, header));
    if ((Load<uint16_t>(header, 10) & kOverflow) == 0)
      return Damaged(first, "it is no overflow page, but a value is said to be here");
    return first * page_bytes_ + kPageHeader;
  }

  Status VisitLeafNode(uint64_t page, Bytes content, uint64_t node) {
    const auto value_bytes = Load<uint32_t>(content, node);
    const auto flags = Load<uint16_t>(content, node + 4);
    const auto key_bytes = Load<uint16_t>(content, node + 6);
    const uint64_t behind_key = node + kNodeHeader + key_bytes;
    uint64_t value_at = page * page_bytes_ + behind_key, end = (page + 1) * page_bytes_;
    if ((flags & kBigValue) != 0) {
      if (behind_key + sizeof(uint64_t) > page_bytes_)
        return Damaged(page, "a node reaches beyond it");
      STOKER_ASSIGN_OR_RETURN(value_at, BigValueAt(page, Load<uint64_t>(content, behind_key)));
      end = bytes_;
    }
    if (value_at > end || value_bytes > end - value_at)
      return Damaged(page, "a value reaches beyond it");
    const std::string_view key(reinterpret_cast<const char*>(content.data()) + node + kNodeHeader,
                               key_bytes);
    ++seen_;
    if (wanted_) {
      if (key == *wanted_ && (flags & kDatabase) != 0 && value_bytes == kDatabaseBytes &&
          (flags & kBigValue) == 0)
        found_ = DatabaseAt(content, behind_key);
      return OkStatus();
    }
    if ((flags & kSeveral) != 0) return Damaged(page, "a node has several values");
    if ((flags & kDatabase) != 0) file_.databases_.emplace_back(key);
    if ((flags & kDatabase) != 0 || !key.starts_with(prefix_)) return OkStatus();
    uint64_t key_at = page * page_bytes_ + node + kNodeHeader;
    if (!file_.file_.present()) {
      key_at = file_.keys_.size();
      file_.keys_ += key;
    }
    file_.entries_.push_back({key_at, value_at, value_bytes, key_bytes});
    file_.longest_ = std::max<uint64_t>(file_.longest_, value_bytes);
    return OkStatus();
  }

  LmdbFile& file_;
  const uint64_t bytes_;  // of the file
  const std::string_view prefix_;
  uint64_t page_bytes_ = kLeastPage;
  std::optional<std::string_view> wanted_;
  std::optional<DatabaseRecord> found_;
  uint64_t pages_ = 0, seen_ = 0;
  std::array<Buffer, kDeepest + 1> rooms_;  // a page for each depth
};

Result<LmdbFile> LmdbFile::Open(const std::string& path, std::string_view database,
                                std::string_view prefix) {
  std::error_code none;
  const bool folder = std::filesystem::is_directory(path, none);
  STOKER_ASSIGN_OR_RETURN(
      FileBytes file,
      FileBytes::Open(folder ? (std::filesystem::path(path) / "data.mdb").string() : path,
                      MapAdvice::kRandom));
  return Parse(std::move(file), database, prefix);
}

Result<LmdbFile> LmdbFile::Parse(Buffer bytes, std::string name, std::string_view database,
                                 std::string_view prefix) {
  return Parse(FileBytes::Of(std::move(bytes), std::move(name)), database, prefix);
}

Result<LmdbFile> LmdbFile::Database(std::string_view name) const { return Parse(file_, name, {}); }

Result<LmdbFile> LmdbFile::Parse(FileBytes bytes, std::string_view database,
                                 std::string_view prefix) {
  LmdbFile file(std::move(bytes));
  DatabaseRecord wanted;
  Walk main_walk(file, prefix);
  STOKER_RETURN_IF_ERROR(main_walk.FindMain(wanted));
  if (database.empty()) {
    STOKER_RETURN_IF_ERROR(main_walk.Visit(wanted, std::nullopt));
    return file;
  }
  STOKER_RETURN_IF_ERROR(main_walk.Visit(wanted, database));
  if (!main_walk.found())
    return NotFound("{}: there is no database '{}' in it", file.name(), database);
  Walk walk(file, prefix);
  STOKER_RETURN_IF_ERROR(walk.FindMain(wanted));
  STOKER_RETURN_IF_ERROR(walk.Visit(*main_walk.found(), std::nullopt));
  return file;
}

std::string_view LmdbFile::key(int64_t position) const {
  const Entry& entry = entries_[static_cast<size_t>(position)];
  const char* const keys =
      file_.present() ? reinterpret_cast<const char*>(file_.bytes().data()) : keys_.data();
  return {keys + entry.key, entry.key_bytes};
}

std::span<const std::byte> LmdbFile::value(int64_t position) const {
  const Entry& entry = entries_[static_cast<size_t>(position)];
  return {file_.bytes().data() + entry.value, entry.value_bytes};
}

Status LmdbFile::ReadValue(int64_t position, std::span<std::byte> out) const {
  return file_.ReadAt(entries_[static_cast<size_t>(position)].value, out);
}

}  // namespace stoker
