#include "stoker/data/ops/cache.h"

#include <algorithm>

#include "stoker/base/log.h"
#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/files_read.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/core/room_in.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/core/user_transform.h"
#include "stoker/data/nodes/cache_store.h"
#include "stoker/data/ops/kept_records_internal.h"
#include "stoker/data/options/stages_before.h"

namespace stoker {
namespace {

using internal::CacheStore;

// The memory budget is divided by this: the rest is for the passes.
constexpr int64_t kBudgetShare = 2;

// Elements of unknown size that are looked at to tell whether all will fit.
constexpr int64_t kSampled = 8;

// What is kept is that of one epoch, whichever is read first.
constexpr uint64_t kKeptEpoch = 0;

class CacheNode final : public DatasetNode {
 public:
  CacheNode(Dataset input, const Cache& options)
      : DatasetNode(std::string(Cache::kName), input.spec(), input.cardinality(), {input}),
        options_(options),
        stages_(StagesBefore::Lines()) {}

  std::string Details() const override {
    return options_.path.empty() ? "in memory" : options_.path.string();
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> bytes = input().node().MemoryToRead(count);
    return AddSizes(bytes, spec().BytesTogether(count));  // what is kept, or gathered
  }
  bool random_access() const override { return input().node().random_access(); }
  bool tolerates_errors() const override { return random_access(); }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  // Looks for the file of an earlier run, once. Where only a part of the elements will be read,
  // makes it whole now: it would never be.
  Status Prepare(const OpenContext& context) const override {
    if (options_.path.empty()) return PrepareMemory(context);
    STOKER_RETURN_IF_ERROR(OpenFileStore());
    if (!context.reads_a_share() || !random_access() || store_->complete()) return OkStatus();
    const Status made = MakeWhole(context.WithEpoch(kKeptEpoch));
    if (made.ok() || made.code() == StatusCode::kCancelled) return made;
    // The read of the faulty element reports the error, or skips it.
    LogWarning("cache: {}: is not made, as {}; each rank makes its elements in every epoch",
               options_.path.string(), made.message());
    store_->Abandon();
    return OkStatus();
  }

  // Once it is prepared.
  CacheStore& store() const { return *store_; }

  // In order, one pass at a time keeps what it reads.
  bool BeginToFill() const { return !filling_.exchange(true); }
  void EndToFill() const { filling_ = false; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    CacheStore& store = *store_;
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(std::optional<ElementLayout::Record> kept,
                            store.Read(position, RoomIn(scratch)));
    if (kept) return AsElement(*std::move(kept), context.epoch());
    STOKER_ASSIGN_OR_RETURN(Element element,
                            input().node().Read(position, context.WithEpoch(kKeptEpoch)));
    STOKER_RETURN_IF_ERROR(store.Put(position, element).status());
    element.key.epoch = context.epoch();
    return element;
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    CacheStore& store = *store_;
    if (!store.in_memory()) return DatasetNode::DoReadRows(positions, context);  // one by one
    std::vector<const std::byte*> records;
    records.reserve(positions.size());
    for (const int64_t position : positions) {
      STOKER_ASSIGN_OR_RETURN(const std::byte* record, store.Find(position));
      if (record != nullptr) records.push_back(record);
    }
    if (records.empty()) return ReadAndKeep(store, positions, context);
    if (records.size() < positions.size() || !store.layout().offsets())
      return DatasetNode::DoReadRows(positions, context);  // one by one
    Scratch scratch = context.scratch(*this);
    return GatherRecords(store.layout(), records, context.epoch(), scratch);
  }

  // What is kept is found by position; a key leads to the input.
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().ReadKey({kKeptEpoch, key.index},
                                                                    context.WithEpoch(kKeptEpoch)));
    element.key.epoch = key.epoch;
    return element;
  }

 private:
  // Makes the store where there is none yet, and says, before the first epoch begins, whether the
  // elements will not fit. It is there once all this is done: a pass that is stopped before leaves
  // it to the next.
  Status PrepareMemory(const OpenContext& context) const {
    const Pass& pass = *context.pass();
    if (!LockUnlessStopped(mutex_)) return StoppedWhileAnotherMadeIt();
    const MutexLock lock(mutex_, std::adopt_lock);
    kept_.ChargeTo(pass, *this);
    if (store_) return OkStatus();
    auto store =
        std::make_unique<internal::MemoryStore>(internal::FieldsOf(spec()), KnownElements(), kept_,
                                                pass.runtime().memory_budget / kBudgetShare);
    if (cardinality().known() && cardinality().value() > 0)
      STOKER_RETURN_IF_ERROR(Begin(*store, context));
    store_ = std::move(store);
    return OkStatus();
  }

  Status Begin(internal::MemoryStore& memory, const OpenContext& context) const {
    std::vector<std::pair<int64_t, Element>> sample;
    const std::optional<size_t> fixed = memory.layout().fixed_bytes();
    if (!fixed) sample = ReadSample(context);
    if (StopScope::Asked()) return AskedToStop(name());
    double record = fixed ? static_cast<double>(*fixed) : 0;
    for (const auto& [position, element] : sample) {
      record += static_cast<double>(memory.layout().RecordBytes(element.arrays)) /
                static_cast<double>(sample.size());
    }
    const double all =
        (record + internal::MemoryStore::kBytesToFind) * static_cast<double>(cardinality().value());
    memory.WarnIfTooSmall(cardinality().value(), static_cast<int64_t>(std::min(all, 0x1p62)),
                          fixed.has_value());
    for (const auto& [position, element] : sample)
      STOKER_RETURN_IF_ERROR(memory.Put(position, element).status());
    return OkStatus();
  }

  Status StoppedWhileAnotherMadeIt() const {
    return Cancelled("{}: asked to stop while another pass began to keep elements", name());
  }

  // Some elements that lie far apart, with their positions; none if they come in order. Errors
  // of those that cannot be read appear where they are wanted.
  std::vector<std::pair<int64_t, Element>> ReadSample(const OpenContext& context) const {
    std::vector<std::pair<int64_t, Element>> sample;
    if (!random_access()) return sample;
    const ReadContext read =
        ReadContext(*context.pass(), kKeptEpoch, /*vectorized=*/false, context.stop().get())
            .AsTrial();
    const int64_t all = cardinality().value(), taken = std::min(all, kSampled);
    for (int64_t i = 0; i < taken && !read.stopped(); ++i) {
      const int64_t position = all / taken * i;
      Result<Element> element = input().node().Read(position, read);
      if (element.ok()) sample.emplace_back(position, *std::move(element));
    }
    return sample;
  }

  Status OpenFileStore() const {
    if (!LockUnlessStopped(mutex_)) return StoppedWhileAnotherMadeIt();
    const MutexLock lock(mutex_, std::adopt_lock);
    if (store_) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(std::string origin, internal::OriginOf(input(), options_.key, stages_));
    STOKER_ASSIGN_OR_RETURN(store_, internal::FileStore::Open(options_.path.string(),
                                                              {.fields = internal::FieldsOf(spec()),
                                                               .origin = std::move(origin)},
                                                              KnownElements()));
    return OkStatus();
  }

  Status MakeWhole(const OpenContext& context) const {
    STOKER_ASSIGN_OR_RETURN(
        const std::unique_ptr<Iterator> elements,
        context.OpenChild(*this, input(), /*number=*/0, context.pass()->runtime().threads));
    for (int64_t position = 0;; ++position) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements->Next());
      if (!element) return OkStatus();
      STOKER_RETURN_IF_ERROR(store_->Put(position, *element).status());
    }
  }

  Result<Rows> ReadAndKeep(CacheStore& store, std::span<const int64_t> positions,
                           const ReadContext& context) const {
    STOKER_ASSIGN_OR_RETURN(Rows rows,
                            input().node().ReadRows(positions, context.WithEpoch(kKeptEpoch)));
    for (int64_t i = 0; i < rows.size(); ++i) {
      const int64_t position = positions[static_cast<size_t>(i)];
      STOKER_ASSIGN_OR_RETURN(const bool kept, store.Put(position, rows.RowElement(i)));
      if (!kept) break;
    }
    for (SampleKey& key : rows.keys) key.epoch = context.epoch();
    return rows;
  }

  // By position, where alone the store is filled in any order.
  std::optional<int64_t> KnownElements() const {
    if (!random_access()) return std::nullopt;
    return cardinality().value();
  }

  const Cache options_;
  const std::string stages_;                   // before it, as a recipe has them
  mutable Mutex mutex_;                        // held while store_ is made
  mutable KeptMemory kept_;                    // of a store in memory, which it outlives
  mutable std::unique_ptr<CacheStore> store_;  // made once, when prepared first
  mutable std::atomic<bool> filling_ = false;
};

// In order: from the store where it is complete when the pass begins, else from the input.
class CacheIterator final : public Iterator {
 public:
  CacheIterator(const OpenContext& context, const CacheNode& node)
      : Iterator(context, node),
        context_(context),
        node_(node),
        store_(node.store()),
        epoch_(context.epoch()) {}
  ~CacheIterator() override { StopFilling(); }

 private:
  Result<std::optional<Element>> DoNext() override {
    if (!begun_) STOKER_RETURN_IF_ERROR(Begin());
    if (!input_) return FromStore();
    return FromInput();
  }

  Status Begin() {
    begun_ = true;
    const Json saved_input = std::exchange(saved_input_, nullptr);
    // Claimed before it is looked at: another pass may finish it at any moment.
    filling_ = saved_input.is_null() && node_.BeginToFill();
    if (store_.complete()) {
      if (std::exchange(filling_, false)) node_.EndToFill();
      return CheckPosition();
    }
    STOKER_ASSIGN_OR_RETURN(input_, context_.WithEpoch(kKeptEpoch).OpenInput(node_.input()));
    if (!saved_input.is_null()) return input_->Restore(saved_input);
    const int64_t wanted = std::exchange(position_, 0);
    while (position_ < wanted) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, FromInput());
      if (!skipped) break;
    }
    return OkStatus();
  }

  Status CheckPosition() const {
    if (position_ <= *store_.complete()) return OkStatus();
    return OutOfRange(
        "cache: the saved position is element {}, but {} are kept; have the data changed?",
        position_, *store_.complete());
  }

  Result<std::optional<Element>> FromStore() {
    if (position_ >= *store_.complete()) return std::nullopt;
    Scratch scratch(context_.pass()->stage(node_).pool);
    STOKER_ASSIGN_OR_RETURN(std::optional<ElementLayout::Record> kept,
                            store_.Read(position_, RoomIn(scratch)));
    ++position_;
    return AsElement(*std::move(kept), epoch_);
  }

  Result<std::optional<Element>> FromInput() {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element) {
      STOKER_RETURN_IF_ERROR(Finish());
      return std::nullopt;
    }
    if (filling_) {
      STOKER_ASSIGN_OR_RETURN(const bool kept, store_.Put(position_, *element));
      if (!kept) StopFilling();
    }
    ++position_;
    element->key.epoch = epoch_;
    return element;
  }

  Status Finish() {
    if (!filling_) return OkStatus();
    STOKER_RETURN_IF_ERROR(store_.Finish());  // else the destructor lets go of it
    filling_ = false;
    node_.EndToFill();
    return OkStatus();
  }

  void StopFilling() {
    if (!std::exchange(filling_, false)) return;
    store_.Abandon();
    node_.EndToFill();
  }

  Result<Json> DoSave() const override {
    Json state{{"epoch", epoch_}, {"position", position_}};
    if (input_) {
      STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
    } else if (!saved_input_.is_null()) {
      state["input"] = saved_input_;
    }
    return state;
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(position_, SavedInteger(state, "position"));
    if (state.contains("input")) {
      STOKER_ASSIGN_OR_RETURN(saved_input_, SavedObject(state, "input"));
    }
    return OkStatus();
  }

  const OpenContext context_;
  const CacheNode& node_;
  CacheStore& store_;
  uint64_t epoch_;
  int64_t position_ = 0;  // of the next element
  bool begun_ = false;
  bool filling_ = false;
  Json saved_input_;                 // restored, until the first Next
  std::unique_ptr<Iterator> input_;  // null: from the store
};

Result<std::unique_ptr<Iterator>> CacheNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<CacheIterator>(context, *this);
}

// The first stage that draws at random, or null.
const DatasetNode* RandomStage(const Dataset& dataset) {
  for (const Dataset& input : dataset.node().inputs()) {
    if (const DatasetNode* random = RandomStage(input)) return random;
  }
  return dataset.node().random() ? &dataset.node() : nullptr;
}

}  // namespace

void Cache::Describe(OptionTable<Cache>& table) {
  table
      .Field("path", &Cache::path,
             "file to keep elements in, for later runs, and for `snapshot` to read as a source; a "
             "relative path starts at data.root, as all of a pipeline's; in memory without it")
      .Field("key", &Cache::key,
             "part of what the file is made from: another key makes it anew, as when the code of a "
             "function before it has changed");
}

Result<Dataset> Cache::Build(Dataset input) const {
  if (input.cardinality().infinite()) {
    return InvalidArgument("cache: the input has no end; put repeat after cache");
  }
  if (const DatasetNode* random = RandomStage(input)) {
    return InvalidArgument(
        "cache: '{}' before it draws at random, and the cache would give the first epoch's draws "
        "in every epoch; put cache before it{}",
        random->name(),
        dynamic_cast<const UserTransform*>(random->element_wise()) != nullptr
            ? " (or, where its function draws nothing, set its `random` to false)"
            : "");
  }
  if (!path.empty()) STOKER_RETURN_IF_ERROR(CheckNotRead(input, path, kName));
  return Dataset(std::make_shared<CacheNode>(std::move(input), *this));
}

}  // namespace stoker
