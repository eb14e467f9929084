#include "stoker/data/sources/lmdb.h"

#include <optional>
#include <utility>

#include "stoker/data/check_key.h"
#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"
#include "stoker/data/sample_names.h"
#include "stoker/formats/lmdb/lmdb_file.h"

namespace stoker {
namespace {

constexpr std::string_view kKeyField = "key";

Spec SpecOf(const Lmdb& options) {
  Spec spec{{{options.field, DType::kUInt8, {kUnknownDim}}}};
  if (options.key) spec.fields.push_back({std::string(kKeyField), DType::kUInt8, {kUnknownDim}});
  return spec;
}

class LmdbNode final : public DatasetNode, public SampleNames {
 public:
  LmdbNode(const Lmdb& options, LmdbFile file)
      : DatasetNode(std::string(Lmdb::kName), SpecOf(options), Cardinality::Of(file.size()), {}),
        options_(options),
        file_(std::move(file)) {}

  std::string Details() const override {
    std::string text = options_.path.string();
    if (!options_.database.empty()) text += ", database " + options_.database;
    if (!options_.prefix.empty()) text += ", prefix " + options_.prefix;
    return text;
  }
  std::vector<std::string> files() const override { return {file_.name()}; }
  std::string NameOf(int64_t index, std::string_view) const override {
    if (index < 0 || index >= file_.size()) return "";
    return fmt::format("{}: '{}'", file_.name(), file_.key(index));
  }
  std::string_view Disturbs() const override { return ""; }
  // Keys and values are mapped.
  std::optional<int64_t> MemoryToRead(int64_t) const override { return 0; }
  bool fixed_order() const override { return true; }
  bool random_access() const override { return true; }
  bool rereadable() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("lmdb: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return ElementAt({context.epoch(), position});
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext&) const override {
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    return ElementAt(key);
  }

 private:
  Element ElementAt(SampleKey key) const {
    Element element{.key = key, .arrays = {Part(file_.value(key.index))}};
    if (options_.key) {
      const std::string_view text = file_.key(key.index);
      element.arrays.push_back(Part(std::as_bytes(std::span(text))));
    }
    return element;
  }

  Array Part(std::span<const std::byte> part) const {
    return Array(file_.bytes(), DType::kUInt8, {std::ssize(part)},
                 static_cast<size_t>(part.data() - file_.bytes().data()));
  }

  const Lmdb options_;
  const LmdbFile file_;
};

}  // namespace

void Lmdb::Describe(OptionTable<Lmdb>& table) {
  table.Field("path", &Lmdb::path, "the database's folder, or its data file")
      .Required()
      .Field("database", &Lmdb::database, "the name of one within; empty: the main one")
      .Field("prefix", &Lmdb::prefix, "take only what has a key that begins so")
      .Field("key", &Lmdb::key, "the keys too, as field `key`")
      .Field("field", &Lmdb::field, "what the field of the values is called");
}

Result<Dataset> Lmdb::Build() const {
  if (field.empty() || (key && field == kKeyField))
    return InvalidArgument("lmdb: the field is called '{}'; give it another name", field);
  STOKER_ASSIGN_OR_RETURN(LmdbFile file, LmdbFile::Open(path.string(), database, prefix));
  return Dataset(std::make_shared<LmdbNode>(*this, std::move(file)));
}

}  // namespace stoker
