#include "stoker/data/sources/lmdb.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/lmdb_files.h"
#include "stoker/data/nodes/packed_values.h"
#include "stoker/formats/array_bytes.h"

namespace stoker {
namespace {

constexpr std::string_view kKeyField = "key";

// Keys and values are parts of the file where it is in memory, else copies.
Array Part(const LmdbFile& file, std::span<const std::byte> part) {
  return Array(file.file().buffer(), DType::kUInt8, {std::ssize(part)},
               static_cast<size_t>(part.data() - file.file().bytes().data()));
}

Array KeyOf(const LmdbFile& file, int64_t entry, Scratch& scratch) {
  const std::span<const std::byte> key = std::as_bytes(std::span(file.key(entry)));
  if (file.file().present()) return Part(file, key);
  Array copy = scratch.NewArray(DType::kUInt8, {std::ssize(key)});
  std::ranges::copy(key, copy.data());
  return copy;
}

Result<Array> ValueOf(const LmdbFile& file, int64_t entry, Scratch& scratch) {
  const std::span<const std::byte> value = file.value(entry);
  if (file.file().present()) return Part(file, value);
  Array copy = scratch.NewArray(DType::kUInt8, {std::ssize(value)});
  STOKER_RETURN_IF_ERROR(file.ReadValue(entry, {copy.data(), copy.num_bytes()}));
  return copy;
}

// What both share: which files, and what their elements are called.
class LmdbNode : public ByPositionNode, public SampleNames, public LabelNames {
 public:
  LmdbNode(const Lmdb& options, Spec spec, LmdbFiles files)
      : ByPositionNode(Lmdb::kName, std::move(spec), Cardinality::Of(files.size())),
        options_(options),
        files_(std::move(files)) {}

  std::string Details() const final {
    std::string text = options_.path.ToString();
    if (!options_.database.empty()) text += ", database " + options_.database;
    if (!options_.prefix.empty()) text += ", prefix " + options_.prefix;
    return text;
  }
  std::vector<std::string> files() const final { return files_.names(); }
  std::string NameOf(int64_t index, std::string_view) const final {
    if (index < 0 || index >= files_.size()) return "";
    const LmdbFiles::Place place = files_.At(index);
    return fmt::format("{}: '{}'", place.file->name(), place.file->key(place.entry));
  }
  std::vector<std::string> ClassNames() const final {
    return files_.packed() ? files_.packed()->classes : std::vector<std::string>{};
  }

 protected:
  const Lmdb& options() const { return options_; }
  const LmdbFiles& databases() const { return files_; }

 private:
  const Lmdb options_;
  const LmdbFiles files_;
};

// The values as they are.
class LmdbValuesNode final : public LmdbNode {
 public:
  using LmdbNode::LmdbNode;

  // Keys, of at most 511 bytes, and values are copied where the files are not mapped.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    constexpr int64_t kBlock = 64, kKey = 512;
    if (databases().present()) return 0;
    return MultiplySizes(count, static_cast<int64_t>(databases().longest_value()) + kBlock + kKey);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const auto [file, entry] = databases().At(position);
    Scratch scratch = context.scratch(*this);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    STOKER_ASSIGN_OR_RETURN(element.arrays.emplace_back(), ValueOf(*file, entry, scratch));
    if (options().key) element.arrays.push_back(KeyOf(*file, entry, scratch));
    return element;
  }
};

// Elements that were packed: an entry for each field, by the fields' names.
class LmdbPackedNode final : public LmdbNode {
 public:
  LmdbPackedNode(const Lmdb& options, Spec spec, LmdbFiles files)
      : LmdbNode(options, std::move(spec), std::move(files)), by_name_(fields().size()) {
    std::iota(by_name_.begin(), by_name_.end(), size_t{0});
    std::ranges::sort(by_name_, {}, [&](size_t f) { return fields()[f].name; });
  }

  // Bytes lie in memory where the files are mapped; larger values are copied where they are not
  // aligned.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    constexpr int64_t kBlock = 64;
    int64_t bytes = 0;
    for (const ElementField& field : fields()) {
      if (databases().present() && DTypeSize(field.dtype) == 1) continue;
      const uint64_t most = IsFullyKnown(field.shape) ? *ArrayBytes(field.dtype, field.shape)
                                                      : databases().longest_value();
      bytes += (static_cast<int64_t>(most) + kBlock) * (databases().present() ? 1 : 2);
    }
    return MultiplySizes(count, bytes);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const auto [file, entry] = databases().At(position);
    Scratch scratch = context.scratch(*this);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    element.arrays.resize(fields().size());
    const std::string_view number = file->key(entry).substr(0, file->key(entry).find('/'));
    for (size_t i = 0; i < by_name_.size(); ++i) {
      const ElementField& field = fields()[by_name_[i]];
      const int64_t at = entry + static_cast<int64_t>(i);
      const std::string_view key = file->key(at);
      const std::string name = fmt::format("{}: '{}'", file->name(), key);
      if (key.size() != number.size() + 1 + field.name.size() || !key.starts_with(number) ||
          !key.ends_with(field.name)) {
        return DataLoss("{}: field '{}' of element {} should be there; pack it again", name,
                        field.name, number);
      }
      STOKER_ASSIGN_OR_RETURN(const Array value, ValueOf(*file, at, scratch));
      STOKER_ASSIGN_OR_RETURN(element.arrays[by_name_[i]],
                              ParsePackedValue(field, value.buffer(),
                                               {value.data(), value.num_bytes()}, name, scratch));
    }
    return element;
  }

 private:
  const std::vector<ElementField>& fields() const { return databases().packed()->fields; }

  std::vector<size_t> by_name_;  // the fields in the order of their keys
};

}  // namespace

void Lmdb::Describe(OptionTable<Lmdb>& table) {
  table.Field("database", &Lmdb::database, "the name of one within; empty: the main one")
      .Field("prefix", &Lmdb::prefix, "take only what has a key that begins so")
      .Field("key", &Lmdb::key, "the keys too, as field `key`")
      .Field("field", &Lmdb::field, "what the field of the values is called");
}

template <>
const std::vector<Option>& OptionsOf<Lmdb>() {
  static const auto options = WithObjects<Lmdb>({ObjectOption(
      "path", &Lmdb::path, "the database's folder, or its data file; 'x-*.lmdb', shards 'x@4.lmdb'",
      /*required=*/true)});
  return options;
}

Result<Dataset> Lmdb::Build() const {
  if (field.empty() || (key && field == kKeyField))
    return InvalidArgument("lmdb: the field is called '{}'; give it another name", field);
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                          path.Expand(kName, /*sorted=*/false, FilePatterns::Kind::kAny));
  STOKER_ASSIGN_OR_RETURN(LmdbFiles files, LmdbFiles::Open(paths, database, prefix));
  Spec spec;
  if (!files.packed()) {
    spec.fields.push_back({field, DType::kUInt8, {kUnknownDim}});
    if (key) spec.fields.push_back({std::string(kKeyField), DType::kUInt8, {kUnknownDim}});
    return Dataset(std::make_shared<LmdbValuesNode>(*this, std::move(spec), std::move(files)));
  }
  if (key || field != Lmdb().field) {
    return InvalidArgument(
        "lmdb: {} was packed, and its elements have fields of their own; leave out `key` and "
        "`field`, or give a prefix (such as '0') to read values as they are",
        paths.front());
  }
  for (const auto& [name, dtype, shape] : files.packed()->fields)
    spec.fields.push_back({name, dtype, shape});
  return Dataset(std::make_shared<LmdbPackedNode>(*this, std::move(spec), std::move(files)));
}

}  // namespace stoker
