#include "stoker/data/sources/webdataset.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "stoker/data/check_key.h"
#include "stoker/data/failure.h"
#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"
#include "stoker/data/sample_names.h"
#include "stoker/data/saved_unsigned.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/tar/tar_reader.h"

namespace stoker {
namespace {

constexpr std::string_view kKeyField = "key";

// One field, and the extensions that may hold it.
struct SampleField {
  std::string name;
  std::vector<std::string> extensions;
  bool number = false;
};

SampleField FieldOf(const std::string& text) {
  SampleField field;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    field.extensions.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  field.name = field.extensions.front();
  field.number = field.name == "cls" || field.name == "id" || field.name == "index";
  return field;
}

// Puts the members of a sample in their places.
class SampleShape {
 public:
  SampleShape(std::vector<SampleField> fields, bool key) : fields_(std::move(fields)), key_(key) {
    for (const SampleField& field : fields_) {
      spec_.fields.push_back({field.name, field.number ? DType::kInt64 : DType::kUInt8,
                              field.number ? Shape{} : Shape{kUnknownDim}});
    }
    if (key_) spec_.fields.push_back({std::string(kKeyField), DType::kUInt8, {kUnknownDim}});
  }

  const Spec& spec() const { return spec_; }

  // The field that a member with this extension is, or nothing.
  std::optional<size_t> FieldNumber(std::string_view extension) const {
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (std::ranges::count(fields_[f].extensions, extension) > 0) return f;
    }
    return std::nullopt;
  }

  // `found`: for each field its member's bytes, or an Array of no buffer where there is none.
  Result<Element> Finish(std::vector<std::optional<Array>> found, const std::string& name,
                         SampleKey key, std::string_view where, Scratch& scratch) const {
    Element element{.key = key, .arrays = {}};
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (!found[f]) {
        return DataLoss(
            "{}: sample '{}' has no member .{}; leave such out with `on_error: skip`, or "
            "name other fields",
            where, name, fmt::join(fields_[f].extensions, " or ."));
      }
      if (!fields_[f].number) {
        element.arrays.push_back(*std::move(found[f]));
        continue;
      }
      Array number = scratch.NewArray(DType::kInt64, {});
      STOKER_ASSIGN_OR_RETURN(number.values<int64_t>()[0],
                              NumberOf(*found[f], fields_[f].name, name, where));
      element.arrays.push_back(std::move(number));
    }
    if (key_) {
      Array text = scratch.NewArray(DType::kUInt8, {std::ssize(name)});
      if (!name.empty()) std::memcpy(text.data(), name.data(), name.size());
      element.arrays.push_back(std::move(text));
    }
    return element;
  }

 private:
  static Result<int64_t> NumberOf(const Array& array, const std::string& field,
                                  const std::string& name, std::string_view where) {
    std::string_view text(reinterpret_cast<const char*>(array.data()), array.num_bytes());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
      text.remove_suffix(1);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
    return DataLoss("{}: sample '{}': .{} is no whole number: '{}'", where, name, field,
                    text.substr(0, 40));
  }

  const std::vector<SampleField> fields_;
  const bool key_;
  Spec spec_;
};

// Plain archives, by position.
class IndexedNode final : public DatasetNode, public SampleNames {
 public:
  IndexedNode(SampleShape shape, std::string details, std::vector<std::string> paths,
              IndexedFiles files)
      : DatasetNode(std::string(Webdataset::kName), shape.spec(), Cardinality::Of(files.size()),
                    {}),
        shape_(std::move(shape)),
        details_(std::move(details)),
        paths_(std::move(paths)),
        files_(std::move(files)) {}

  std::string Details() const override { return details_; }
  std::vector<std::string> files() const override { return paths_; }
  std::string NameOf(int64_t index, std::string_view field) const override {
    const bool here = index >= 0 && index < files_.size();
    return here ? fmt::format("{}: .{}", files_.At(index).ToString(), field) : "";
  }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // The sample, and small arrays of numbers and names.
    constexpr int64_t kSmall = 4 << 10;
    return MultiplySizes(count, files_.MostBytes() + kSmall);
  }
  bool fixed_order() const override { return true; }
  bool random_access() const override { return true; }
  bool rereadable() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("webdataset: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = files_.At(position);
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(const Buffer bytes, files_.Read(place, scratch));
    const std::unique_ptr<TarInput> input = MakeTarInput(
        {bytes.data(), static_cast<size_t>(place.bytes())}, place.begin, place.file->path());
    TarReader reader(*input, place.begin);
    std::vector<std::optional<Array>> found(spec().fields.size());
    std::string name;
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
      if (!member) break;
      const std::optional<SampleName> split = SplitSampleName(member->name);
      if (!split) continue;
      name = split->key;
      if (const std::optional<size_t> field = shape_.FieldNumber(split->extension)) {
        found[*field] = Array(bytes, DType::kUInt8, {static_cast<int64_t>(member->size)},
                              static_cast<size_t>(member->data - place.begin));
      }
    }
    return shape_.Finish(std::move(found), name, {context.epoch(), position}, place.ToString(),
                         scratch);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    return DoRead(key.index, context.WithEpoch(key.epoch));
  }

 private:
  const SampleShape shape_;
  const std::string details_;
  const std::vector<std::string> paths_;
  const IndexedFiles files_;
};

class StreamNode final : public DatasetNode {
 public:
  StreamNode(SampleShape shape, std::string details, std::vector<std::string> paths)
      : DatasetNode(std::string(Webdataset::kName), shape.spec(), Cardinality::Unknown(), {}),
        shape_(std::move(shape)),
        details_(std::move(details)),
        paths_(std::move(paths)) {}

  std::string Details() const override { return details_ + ", in order"; }
  std::vector<std::string> files() const override { return paths_; }
  std::string_view Disturbs() const override { return ""; }
  bool tolerates_errors() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const SampleShape& shape() const { return shape_; }
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  const SampleShape shape_;
  const std::string details_;
  const std::vector<std::string> paths_;
};

class StreamIterator final : public Iterator {
 public:
  StreamIterator(const OpenContext& context, const StreamNode& node)
      : Iterator(context, node),
        node_(node),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (file_ < node_.paths().size()) {
      STOKER_RETURN_IF_ERROR(CheckStop());
      if (!reader_) STOKER_RETURN_IF_ERROR(OpenReader());
      if (member_) return Sample();
      ++file_;
      reader_.reset();
      input_.reset();
      offset_ = 0;
    }
    return std::nullopt;
  }

  // The next member that is part of a sample; nothing at the archive's end.
  Status Advance() {
    do {
      STOKER_ASSIGN_OR_RETURN(member_, reader_->Next());
    } while (member_ && !SplitSampleName(member_->name));
    return OkStatus();
  }

  // The sample that begins with member_; afterwards that is the next one's.
  Result<std::optional<Element>> Sample() {
    Scratch scratch(pass().stage(node_).pool);
    const std::string name(SplitSampleName(member_->name)->key);
    const std::string where =
        fmt::format("{}: sample at byte {}", node_.paths()[file_], member_->begin);
    std::vector<std::optional<Array>> found(node_.spec().fields.size());
    while (member_) {
      const SampleName split = *SplitSampleName(member_->name);
      if (split.key != name) break;
      if (const std::optional<size_t> field = node_.shape().FieldNumber(split.extension)) {
        STOKER_ASSIGN_OR_RETURN(found[*field], ReadMember(scratch));
      }
      STOKER_RETURN_IF_ERROR(Advance());
    }
    offset_ = member_ ? member_->begin : kAtEnd;
    const SampleKey key{epoch_, samples_++};
    Result<Element> element = node_.shape().Finish(std::move(found), name, key, where, scratch);
    if (element.ok()) return *std::move(element);
    if (!tolerant_) return element.status();
    return FailedElement(element.status(), {node_.name(), key});
  }

  // Of compressed archives it is not known beforehand how much there is: memory grows as it comes.
  Result<Array> ReadMember(Scratch& scratch) {
    constexpr uint64_t kStep = 16 << 20;
    Array bytes = scratch.NewArray(DType::kUInt8, {0});
    for (uint64_t have = 0; have < member_->size;) {
      const uint64_t wanted = std::min(member_->size, std::max(2 * have, kStep));
      Array larger = scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(wanted)});
      if (have > 0) std::memcpy(larger.data(), bytes.data(), static_cast<size_t>(have));
      STOKER_ASSIGN_OR_RETURN(
          const size_t got,
          input_->ReadAt(member_->data + have,
                         {larger.data() + have, static_cast<size_t>(wanted - have)}));
      if (got < wanted - have) {
        return DataLoss(
            "{}: byte {}: the archive ends in the middle of '{}'; it was cut short: copy "
            "or download it again",
            input_->name(), member_->begin, member_->name);
      }
      have = wanted;
      bytes = std::move(larger);
    }
    return bytes;
  }

  Status OpenReader() {
    const auto stop = [this] { return !CheckStop().ok(); };
    const std::shared_ptr<MemoryAccount>& account = pass().stage(node_).account;
    const bool ended = offset_ == kAtEnd;
    STOKER_ASSIGN_OR_RETURN(
        std::unique_ptr<ByteSource> source,
        OpenByteSourceAt(node_.paths()[file_], ended ? 0 : offset_, account, stop));
    input_ = MakeTarInput(std::move(source));
    reader_.emplace(*input_, ended ? 0 : offset_);
    member_.reset();
    return ended ? OkStatus() : Advance();
  }

  Result<Json> DoSave() const override {
    return Json{{"epoch", epoch_}, {"file", file_}, {"byte", offset_}, {"samples", samples_}};
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(const int64_t file, SavedInteger(state, "file"));
    STOKER_ASSIGN_OR_RETURN(const int64_t offset, SavedInteger(state, "byte"));
    STOKER_ASSIGN_OR_RETURN(samples_, SavedInteger(state, "samples"));
    file_ = static_cast<size_t>(file);
    offset_ = static_cast<uint64_t>(offset);
    return OkStatus();
  }

  // Of an archive all of whose samples have been handed out.
  static constexpr uint64_t kAtEnd = uint64_t{1} << 62;

  const StreamNode& node_;
  const bool tolerant_;
  uint64_t epoch_;
  size_t file_ = 0;
  uint64_t offset_ = 0;  // where the next sample of that file begins
  int64_t samples_ = 0;  // of all files, handed out or failed
  std::unique_ptr<TarInput> input_;
  std::optional<TarReader> reader_;  // of input_
  std::optional<TarMember> member_;  // the first of the next sample
};

Result<std::unique_ptr<Iterator>> StreamNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<StreamIterator>(context, *this);
}

// The extensions of the first sample, in their order.
Result<std::vector<std::string>> ExtensionsOf(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  TarReader reader(*input);
  std::vector<std::string> extensions;
  std::string key;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    const std::optional<SampleName> name =
        member ? SplitSampleName(member->name) : std::optional<SampleName>();
    if (!member || (name && !extensions.empty() && name->key != key)) break;
    if (!name) continue;
    key = name->key;
    extensions.emplace_back(name->extension);
  }
  if (!extensions.empty()) return extensions;
  return DataLoss("{}: the archive has no sample, so its fields are not known; name them", path);
}

Result<std::vector<SampleField>> FieldsOf(const std::vector<std::string>& texts, bool key) {
  std::vector<SampleField> fields;
  std::set<std::string> extensions;
  for (const std::string& text : texts) {
    fields.push_back(FieldOf(text));
    for (const std::string& extension : fields.back().extensions) {
      if (extension.empty() || !extensions.insert(extension).second)
        return InvalidArgument("webdataset: extension '{}' is named twice, or empty", extension);
    }
    if (key && fields.back().name == kKeyField)
      return InvalidArgument("webdataset: a field is called 'key' already; leave out key");
  }
  return fields;
}

}  // namespace

void Webdataset::Describe(OptionTable<Webdataset>& table) {
  table
      .Field(
          "fields", &Webdataset::fields,
          "extensions, alternatives with bars between: [jpg|png, cls]; empty: as the first sample "
          "has them")
      .Field("key", &Webdataset::key, "the samples' names too, as field `key`")
      .Field("index", &Webdataset::index,
             "where plain archives' samples are: stored beside each file, found anew in memory at "
             "each start, or none: read in order",
             OneOf{{"stored", "memory", "none"}});
}

template <>
const std::vector<Option>& OptionsOf<Webdataset>() {
  static const auto options = WithObjects<Webdataset>(
      {ObjectOption("files", &Webdataset::files, "which: 'train-{000..146}.tar', or a list",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Webdataset::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  std::vector<std::string> texts = fields;
  if (texts.empty()) {
    STOKER_ASSIGN_OR_RETURN(texts, ExtensionsOf(paths.front()));
  }
  STOKER_ASSIGN_OR_RETURN(std::vector<SampleField> wanted, FieldsOf(texts, key));
  SampleShape shape(std::move(wanted), key);
  STOKER_ASSIGN_OR_RETURN(const bool plain, AllArePlain(paths));
  if (!plain || index == "none")
    return Dataset(
        std::make_shared<StreamNode>(std::move(shape), files.ToString(), std::move(paths)));
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(paths, "tar", /*settings=*/0,
                         index == "stored" ? IndexUse::kStored : IndexUse::kMemory,
                         ScanTarSamples));
  return Dataset(std::make_shared<IndexedNode>(std::move(shape), files.ToString(), std::move(paths),
                                               std::move(indexed)));
}

}  // namespace stoker
