#include "stoker/data/ops/enumerate.h"

#include <algorithm>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"

namespace stoker {
namespace {

class EnumerateNode final : public DatasetNode {
 public:
  EnumerateNode(Dataset input, const Enumerate& options, Spec spec)
      : DatasetNode(std::string(Enumerate::kName), std::move(spec), input.cardinality(), {input}),
        options_(options) {}

  std::string Details() const override {
    return fmt::format("{} from {}", options_.field, options_.start);
  }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const Spec added{{spec().fields.back()}};
    return AddSizes(input().node().MemoryToRead(count), added.BytesApart(count));
  }
  bool random_access() const override { return input().node().random_access(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  void AddNumber(int64_t position, Element& element, Scratch& scratch) const {
    Array number = scratch.NewArray(DType::kInt64, {});
    number.values<int64_t>()[0] = options_.start + position;
    element.arrays.push_back(std::move(number));
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().Read(position, context));
    Scratch scratch = context.scratch(*this);
    AddNumber(position, element, scratch);
    return element;
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Rows rows, input().node().ReadRows(positions, context));
    Scratch scratch = context.scratch(*this);
    Array numbers = scratch.NewArray(DType::kInt64, {std::ssize(positions)});
    std::ranges::transform(positions, numbers.values<int64_t>().begin(),
                           [&](int64_t position) { return options_.start + position; });
    rows.columns.push_back(std::move(numbers));
    return rows;
  }

 private:
  const Enumerate options_;
};

class EnumerateIterator final : public Iterator {
 public:
  EnumerateIterator(const OpenContext& context, const EnumerateNode& node,
                    std::unique_ptr<Iterator> input)
      : Iterator(context, node), node_(node), input_(std::move(input)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element) return std::nullopt;
    Scratch scratch(pass().stage(node_).pool);
    node_.AddNumber(passed_++, *element, scratch);
    return element;
  }

  Result<Json> DoSave() const override { return WithInputState({{"passed", passed_}}, *input_); }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(passed_, SavedCount(node_.name(), state, "passed"));
    return RestoreInput(state, *input_);
  }

  const EnumerateNode& node_;
  const std::unique_ptr<Iterator> input_;
  int64_t passed_ = 0;
};

Result<std::unique_ptr<Iterator>> EnumerateNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<EnumerateIterator>(context, *this, std::move(input));
}

}  // namespace

void Enumerate::Describe(OptionTable<Enumerate>& table) {
  table.Field("field", &Enumerate::field, "name of the field that is added")
      .Field("start", &Enumerate::start, "number of an epoch's first element",
             Between(-0x1p52, 0x1p52));
}

Result<Dataset> Enumerate::Build(Dataset input) const {
  Spec spec = input.spec();
  STOKER_RETURN_IF_ERROR(AddField(kName, {field, DType::kInt64, {}}, spec));
  return Dataset(std::make_shared<EnumerateNode>(std::move(input), *this, std::move(spec)));
}

}  // namespace stoker
