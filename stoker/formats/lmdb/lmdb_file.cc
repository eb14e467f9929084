#include "stoker/formats/lmdb/lmdb_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "stoker/io/file.h"

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

struct Database {
  uint16_t flags = 0;
  uint64_t values = 0, root = kNoPage;
};

}  // namespace

// Goes through the tree of a database, from left to right.
class LmdbFile::Walk {
 public:
  Walk(LmdbFile& file, std::string_view prefix)
      : file_(file), bytes_(file.bytes_.data(), file.bytes_.size()), prefix_(prefix) {}

  // Reads the description that counts.
  Status FindMain(Database& main) {
    STOKER_ASSIGN_OR_RETURN(page_bytes_, PageBytes());
    // Both are written when a database is made, before anything is put into it.
    if (bytes_.size() < 2 * page_bytes_) {
      return DataLoss(
          "{}: byte {}: the file ends within its two descriptions of {} bytes; it is "
          "cut short: copy it again",
          file_.name_, bytes_.size(), page_bytes_);
    }
    std::optional<uint64_t> newest;
    for (const uint64_t page : {0, 1}) {
      const uint64_t at = page * page_bytes_;
      if (at + kDescriptionEnd > bytes_.size() || Load<uint32_t>(at + kMagicAt) != kMagic) continue;
      const auto transaction = Load<uint64_t>(at + kTransactionAt);
      if (newest && transaction <= *newest) continue;
      newest = transaction;
      main = DatabaseAt(at + kMainAt);
    }
    return OkStatus();  // PageBytes has found one
  }

  // Adds the values of a database, or only finds the one whose key is `wanted`, a database.
  Status Visit(const Database& database, std::optional<std::string_view> wanted) {
    wanted_ = wanted;
    if (!wanted && (database.flags & kSeveralValues) != 0) {
      return Unimplemented(
          "{}: the database has several values a key (DUPSORT), which are not read; copy it into "
          "one of a value a key",
          file_.name_);
    }
    if (database.root == kNoPage) return OkStatus();
    STOKER_RETURN_IF_ERROR(VisitPage(database.root, 0));
    if (wanted || seen_ == database.values) return OkStatus();
    return DataLoss("{}: {} values are there, {} are announced; the file is damaged", file_.name_,
                    seen_, database.values);
  }

  const std::optional<Database>& found() const { return found_; }

 private:
  template <typename T>
  T Load(uint64_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(value));
    return value;
  }

  Database DatabaseAt(uint64_t at) const {
    return {Load<uint16_t>(at + kFlagsAt), Load<uint64_t>(at + kValuesAt),
            Load<uint64_t>(at + kRootAt)};
  }

  // Of the first description, or where that one is damaged, of the second.
  Result<uint64_t> PageBytes() const {
    for (uint64_t at = 0; at <= kMostPage; at = at == 0 ? kLeastPage : 2 * at) {
      if (at + kDescriptionEnd > bytes_.size()) break;
      const auto page = Load<uint32_t>(at + kFreeAt);
      const bool good = Load<uint32_t>(at + kMagicAt) == kMagic &&
                        Load<uint32_t>(at + kVersionAt) == kVersion && std::has_single_bit(page) &&
                        page >= kLeastPage && page <= kMostPage && (at == 0 || at == page);
      if (good) return page;
    }
    return DataLoss(
        "{}: byte 0: this is no LMDB database of version {}, or it is damaged; check the path",
        file_.name_, kVersion);
  }

  Status Damaged(uint64_t page, std::string_view what) const {
    return DataLoss("{}: page {} (byte {}): {}; the file is damaged or was cut short", file_.name_,
                    page, page * page_bytes_, what);
  }

  Status VisitPage(uint64_t page, int depth) {
    if (page >= bytes_.size() / page_bytes_) return Damaged(page, "it is not in the file");
    if (depth > kDeepest || ++pages_ > bytes_.size() / page_bytes_)
      return Damaged(page, "the tree leads here again");
    const uint64_t at = page * page_bytes_;
    const auto flags = Load<uint16_t>(at + 10);
    const uint16_t lower = Load<uint16_t>(at + 12);
    const bool branch = (flags & kBranch) != 0;
    if ((flags & (kBranch | kLeaf)) == 0 || (flags & (kOverflow | kDescription | kKeysOnly)) != 0)
      return Damaged(page, "it is neither a branch nor a leaf");
    if (lower < kPageHeader || lower > page_bytes_ || lower % 2 != 0)
      return Damaged(page, "its list of nodes has no length");
    for (uint64_t entry = at + kPageHeader; entry < at + lower; entry += 2) {
      const uint64_t node = Load<uint16_t>(entry);
      if (node < lower || node + kNodeHeader > page_bytes_ ||
          node + kNodeHeader + Load<uint16_t>(at + node + 6) > page_bytes_)
        return Damaged(page, "a node reaches beyond it");
      STOKER_RETURN_IF_ERROR(branch ? VisitPage(PageBelow(at + node), depth + 1)
                                    : VisitLeafNode(page, at + node));
    }
    return OkStatus();
  }

  uint64_t PageBelow(uint64_t node) const {
    return Load<uint32_t>(node) | uint64_t{Load<uint16_t>(node + 4)} << 32;
  }

  Status VisitLeafNode(uint64_t page, uint64_t node) {
    const auto value_bytes = Load<uint32_t>(node);
    const auto flags = Load<uint16_t>(node + 4);
    const auto key_bytes = Load<uint16_t>(node + 6);
    const uint64_t key_at = node + kNodeHeader;
    uint64_t value_at = key_at + key_bytes;
    uint64_t end = (page + 1) * page_bytes_;
    if ((flags & kBigValue) != 0) {
      if (value_at + sizeof(uint64_t) > end) return Damaged(page, "a node reaches beyond it");
      const auto first = Load<uint64_t>(value_at);
      if (first >= bytes_.size() / page_bytes_)
        return Damaged(page, "the value of a node is not in the file");
      value_at = first * page_bytes_ + kPageHeader;
      end = bytes_.size();
      if ((Load<uint16_t>(value_at - 6) & kOverflow) == 0)
        return Damaged(first, "it is no overflow page, but a value is said to be here");
    }
    if (value_at > end || value_bytes > end - value_at)
      return Damaged(page, "a value reaches beyond it");
    const std::string_view key(reinterpret_cast<const char*>(bytes_.data()) + key_at, key_bytes);
    ++seen_;
    if (wanted_) {
      if (key == *wanted_ && (flags & kDatabase) != 0 && value_bytes == kDatabaseBytes)
        found_ = DatabaseAt(value_at);
      return OkStatus();
    }
    if ((flags & kSeveral) != 0) return Damaged(page, "a node has several values");
    if ((flags & kDatabase) != 0) file_.databases_.emplace_back(key);
    if ((flags & kDatabase) != 0 || !key.starts_with(prefix_)) return OkStatus();
    file_.entries_.push_back({key_at, value_at, value_bytes, key_bytes});
    file_.longest_ = std::max<uint64_t>(file_.longest_, value_bytes);
    return OkStatus();
  }

  LmdbFile& file_;
  const std::span<const std::byte> bytes_;
  const std::string_view prefix_;
  uint64_t page_bytes_ = kLeastPage;
  std::optional<std::string_view> wanted_;
  std::optional<Database> found_;
  uint64_t pages_ = 0, seen_ = 0;
};

Result<LmdbFile> LmdbFile::Open(const std::string& path, std::string_view database,
                                std::string_view prefix) {
  std::error_code none;
  const bool folder = std::filesystem::is_directory(path, none);
  STOKER_ASSIGN_OR_RETURN(
      const MappedFile file,
      MappedFile::Open(folder ? (std::filesystem::path(path) / "data.mdb").string() : path,
                       MapAdvice::kRandom));
  return Parse(file.buffer(), file.path(), database, prefix);
}

Result<LmdbFile> LmdbFile::Parse(Buffer bytes, std::string name, std::string_view database,
                                 std::string_view prefix) {
  LmdbFile file(std::move(bytes), std::move(name));
  Database wanted;
  Walk main_walk(file, prefix);
  STOKER_RETURN_IF_ERROR(main_walk.FindMain(wanted));
  if (database.empty()) {
    STOKER_RETURN_IF_ERROR(main_walk.Visit(wanted, std::nullopt));
    return file;
  }
  STOKER_RETURN_IF_ERROR(main_walk.Visit(wanted, database));
  if (!main_walk.found())
    return NotFound("{}: there is no database '{}' in it", file.name_, database);
  Walk walk(file, prefix);
  STOKER_RETURN_IF_ERROR(walk.FindMain(wanted));
  STOKER_RETURN_IF_ERROR(walk.Visit(*main_walk.found(), std::nullopt));
  return file;
}

std::string_view LmdbFile::key(int64_t position) const {
  const Entry& entry = entries_[static_cast<size_t>(position)];
  return {reinterpret_cast<const char*>(bytes_.data()) + entry.key, entry.key_bytes};
}

std::span<const std::byte> LmdbFile::value(int64_t position) const {
  const Entry& entry = entries_[static_cast<size_t>(position)];
  return {bytes_.data() + entry.value, entry.value_bytes};
}

}  // namespace stoker
