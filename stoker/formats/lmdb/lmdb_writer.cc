#include "stoker/formats/lmdb/lmdb_writer.h"

#include <lmdb.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace stoker {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Pages of a transaction are held in memory until it is committed; LMDB allows for 131,071 of them.
constexpr uint64_t kTransactionPages = 16 << 10;
constexpr uint64_t kFirstMapBytes = 16 * kMiB, kMostMapStep = 1024 * kMiB;

struct CloseEnvironment {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};
struct AbortTransaction {
  void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
};

MDB_val ValueOf(const void* data, size_t size) {
  return {.mv_size = size, .mv_data = const_cast<void*>(data)};
}

}  // namespace

class LmdbWriter::Database {
 public:
  explicit Database(std::string directory)
      : name_((std::filesystem::path(directory) / "data.mdb").string()),
        directory_(std::move(directory)) {}

  Status Open() {
    MDB_env* environment = nullptr;
    STOKER_RETURN_IF_ERROR(Check(mdb_env_create(&environment), "cannot be made"));
    environment_.reset(environment);
    map_bytes_ = kFirstMapBytes;
    STOKER_RETURN_IF_ERROR(Check(mdb_env_set_mapsize(environment, map_bytes_), "cannot be made"));
    // No other process sees it yet, and it is flushed explicitly.
    constexpr unsigned kFlags = MDB_NOLOCK | MDB_NOSYNC | MDB_NOTLS;
    STOKER_RETURN_IF_ERROR(
        Check(mdb_env_open(environment, directory_.c_str(), kFlags, 0644), "cannot be made"));
    MDB_stat stat;
    mdb_env_stat(environment, &stat);
    page_bytes_ = stat.ms_psize;
    return OkStatus();
  }

  Status Append(std::string_view key, std::span<const std::byte> value) {
    STOKER_RETURN_IF_ERROR(CheckEntry(key, value));
    STOKER_RETURN_IF_ERROR(MakeRoom(PagesOf(key.size() + value.size())));
    MDB_val key_value = ValueOf(key.data(), key.size());
    MDB_val data = ValueOf(value.data(), value.size());
    const int error = mdb_put(transaction_.get(), table_, &key_value, &data, MDB_APPEND);
    if (error == MDB_KEYEXIST) {
      return InvalidArgument("{}: key '{}' does not come after those that are there", name_, key);
    }
    return Check(error, "cannot be written");
  }

  Status Finish() {
    if (!transaction_) STOKER_RETURN_IF_ERROR(Begin());
    STOKER_RETURN_IF_ERROR(CommitTransaction());
    environment_.reset();
    return OkStatus();
  }

 private:
  Status Check(int error, std::string_view what) const {
    if (error == 0) return OkStatus();
    if (error > 0) return ErrnoStatus(error, fmt::format("{}: {}", name_, what));
    return Internal("{}: {}: {}", name_, what, mdb_strerror(error));
  }

  Status CheckEntry(std::string_view key, std::span<const std::byte> value) const {
    if (key.empty() || key.size() > kMostKeyBytes) {
      return InvalidArgument("{}: a key of {} bytes; LMDB takes 1 to {}", name_, key.size(),
                             kMostKeyBytes);
    }
    if (value.size() > kMostValueBytes) {
      return InvalidArgument("{}: the value of '{}' has {} bytes; LMDB takes at most 4 GiB - 1",
                             name_, key, value.size());
    }
    return OkStatus();
  }

  // At most this many more pages are used for an entry. A value goes to pages of its own if it
  // takes more than half of one; leaves that are filled in order are at least half full, and the
  // branches above them are fewer.
  uint64_t PagesOf(uint64_t bytes) const { return 3 + (bytes + kNodeBytes) / page_bytes_; }

  // Sees to a transaction, and to a map, in which so many pages more have room.
  Status MakeRoom(uint64_t pages) {
    if (transaction_ && pages_ + pages > kTransactionPages)
      STOKER_RETURN_IF_ERROR(CommitTransaction());
    if (!transaction_) {
      STOKER_RETURN_IF_ERROR(GrowMap(std::max(pages, kTransactionPages)));
      STOKER_RETURN_IF_ERROR(Begin());
    }
    pages_ += pages;
    return OkStatus();
  }

  // Between transactions only.
  Status GrowMap(uint64_t pages) {
    MDB_envinfo info;
    mdb_env_info(environment_.get(), &info);
    const uint64_t wanted = (info.me_last_pgno + 1 + pages + kSparePages) * page_bytes_;
    if (wanted <= map_bytes_) return OkStatus();
    while (map_bytes_ < wanted) map_bytes_ += std::min(map_bytes_, kMostMapStep);
    return Check(mdb_env_set_mapsize(environment_.get(), map_bytes_), "the map cannot grow");
  }

  Status Begin() {
    MDB_txn* transaction = nullptr;
    STOKER_RETURN_IF_ERROR(
        Check(mdb_txn_begin(environment_.get(), nullptr, 0, &transaction), "cannot be written"));
    transaction_.reset(transaction);
    pages_ = 0;
    return Check(mdb_dbi_open(transaction, nullptr, 0, &table_), "cannot be written");
  }

  Status CommitTransaction() {
    return Check(mdb_txn_commit(transaction_.release()), "cannot be written");
  }

  static constexpr uint64_t kNodeBytes = 32;  // a page's or a node's header, and what aligns it
  static constexpr uint64_t kSparePages =
      256;  // the way to the last leaf, and the list of free pages

  const std::string name_, directory_;
  std::unique_ptr<MDB_env, CloseEnvironment> environment_;
  std::unique_ptr<MDB_txn, AbortTransaction> transaction_;  // goes first
  MDB_dbi table_ = 0;
  uint64_t page_bytes_ = 0, map_bytes_ = 0;
  uint64_t pages_ = 0;  // of the transaction, at most
};

LmdbWriter::LmdbWriter(std::unique_ptr<Database> database) : database_(std::move(database)) {}
LmdbWriter::LmdbWriter(LmdbWriter&& other) noexcept = default;
LmdbWriter& LmdbWriter::operator=(LmdbWriter&& other) noexcept = default;
LmdbWriter::~LmdbWriter() = default;

Result<LmdbWriter> LmdbWriter::Create(const std::string& directory) {
  auto database = std::make_unique<Database>(directory);
  STOKER_RETURN_IF_ERROR(database->Open());
  return LmdbWriter(std::move(database));
}

Status LmdbWriter::Append(std::string_view key, std::span<const std::byte> value) {
  return database_->Append(key, value);
}

Status LmdbWriter::Finish() { return database_->Finish(); }

}  // namespace stoker
