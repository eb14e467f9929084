#include "stoker/data/ops/zip.h"

#include <algorithm>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/ops/combine_internal.h"

namespace stoker {
namespace {

Status CheckNames(const Spec& spec) {
  for (size_t a = 0; a < spec.fields.size(); ++a) {
    for (size_t b = a + 1; b < spec.fields.size(); ++b) {
      if (spec.fields[a].name != spec.fields[b].name) continue;
      return InvalidArgument(
          "zip: two inputs have a field '{}'; give each input a prefix, such as prefix: [a_, b_]",
          spec.fields[a].name);
    }
  }
  return OkStatus();
}

Result<Spec> ZippedSpec(const std::vector<Dataset>& inputs,
                        const std::vector<std::string>& prefix) {
  if (!prefix.empty() && prefix.size() != inputs.size()) {
    return InvalidArgument("zip: {} prefixes for {} inputs; give one for each, \"\" for none",
                           prefix.size(), inputs.size());
  }
  Spec spec;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (Field field : inputs[i].spec().fields) {
      if (!prefix.empty()) field.name = prefix[i] + field.name;
      spec.fields.push_back(std::move(field));
    }
  }
  STOKER_RETURN_IF_ERROR(CheckNames(spec));
  return spec;
}

Cardinality Shortest(const std::vector<Dataset>& inputs) {
  Cardinality shortest = Cardinality::Infinite();
  for (const Dataset& input : inputs) {
    const Cardinality n = input.cardinality();
    if (n == Cardinality::Unknown()) return n;
    if (n.value() < shortest.value()) shortest = n;  // infinite is the largest value
  }
  return shortest;
}

Status CheckLengths(const std::vector<Dataset>& inputs) {
  for (const Dataset& input : inputs) {
    const Cardinality a = inputs.front().cardinality(), b = input.cardinality();
    if (a == Cardinality::Unknown() || b == Cardinality::Unknown() || a == b) continue;
    return InvalidArgument(
        "zip: the inputs have {} and {} elements, but strict is set; correct the input that is "
        "wrong, or take strict away to end with the shortest",
        a.ToString(), b.ToString());
  }
  return OkStatus();
}

class ZipNode final : public DatasetNode {
 public:
  ZipNode(const std::vector<Dataset>& inputs, Spec spec, bool strict)
      : DatasetNode(std::string(Zip::kName), std::move(spec), Shortest(inputs), inputs),
        strict_(strict) {}

  std::string Details() const override {
    return fmt::format("{} inputs{}", inputs().size(), strict_ ? ", strict" : "");
  }
  std::string_view Disturbs() const override {
    const auto as_long = [&](const Dataset& input) { return input.cardinality() == cardinality(); };
    return cardinality().known() && std::ranges::all_of(inputs(), as_long)
               ? ""
               : "leaves out what is left of its longer inputs";
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    std::optional<int64_t> bytes = 0;  // it makes nothing itself
    for (const Dataset& input : inputs()) bytes = AddSizes(bytes, input.node().MemoryToRead(count));
    return bytes;
  }
  // Where the longer inputs are broken off is the same in every pass.
  bool fixed_order() const override {
    return std::ranges::all_of(inputs(),
                               [](const Dataset& input) { return input.node().fixed_order(); });
  }
  bool random_access() const override { return AllRandomAccess(inputs()); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  bool strict() const { return strict_; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element all, input().node().Read(position, context));
    for (size_t i = 1; i < inputs().size(); ++i) {
      STOKER_ASSIGN_OR_RETURN(Element more, inputs()[i].node().Read(position, context));
      std::ranges::move(more.arrays, std::back_inserter(all.arrays));
    }
    return all;
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Rows all, input().node().ReadRows(positions, context));
    for (size_t i = 1; i < inputs().size(); ++i) {
      STOKER_ASSIGN_OR_RETURN(Rows more, inputs()[i].node().ReadRows(positions, context));
      std::ranges::move(more.columns, std::back_inserter(all.columns));
    }
    return all;
  }

 private:
  const bool strict_;
};

class ZipIterator final : public Iterator {
 public:
  // `inside` is the stop flag of the inputs.
  ZipIterator(const OpenContext& context, const ZipNode& node, std::shared_ptr<StopFlag> inside,
              std::vector<std::unique_ptr<Iterator>> inputs)
      : Iterator(context, node),
        node_(node),
        inside_(std::move(inside)),
        inputs_(std::move(inputs)) {}
  ~ZipIterator() override { inside_->Raise(); }

 private:
  Result<std::optional<Element>> DoNext() override {
    std::optional<Element> all;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, inputs_[i]->Next());
      if (!element) return End(i);
      if (all) {
        std::ranges::move(element->arrays, std::back_inserter(all->arrays));
      } else {
        all = std::move(element);
      }
    }
    ++done_;
    return all;
  }

  // Input `ended` is at its end, those before it had one element more.
  Result<std::optional<Element>> End(size_t ended) {
    if (!node_.strict()) return std::nullopt;
    size_t longer = 0;
    bool is_longer = ended > 0;
    for (size_t i = ended + 1; i < inputs_.size() && !is_longer; ++i) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, inputs_[i]->Next());
      is_longer = element.has_value();
      longer = i;
    }
    if (!is_longer) return std::nullopt;
    return FailedPrecondition(
        "zip: input {} ended after {} elements, input {} has more, but strict is set; correct the "
        "input that is wrong, or take strict away to end with the shortest",
        ended, done_, longer);
  }

  // No element is held between calls. At the end the inputs may have been read one element too
  // far; resumed there, the one that has ended ends it again.
  Result<Json> DoSave() const override {
    STOKER_ASSIGN_OR_RETURN(Json inputs, SaveAll(inputs_));
    return Json{{"done", done_}, {"inputs", std::move(inputs)}};
  }
  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(done_, SavedCount(node_.name(), state, "done"));
    return RestoreAll(state, inputs_);
  }

  const ZipNode& node_;
  const std::shared_ptr<StopFlag> inside_;
  const std::vector<std::unique_ptr<Iterator>> inputs_;
  int64_t done_ = 0;
};

Result<std::unique_ptr<Iterator>> ZipNode::OpenStream(const OpenContext& context) const {
  auto inside = std::make_shared<StopFlag>(context.stop());
  STOKER_ASSIGN_OR_RETURN(auto opened,
                          OpenAll(context.ForOneOf(inputs().size()).WithStop(inside), inputs()));
  return std::make_unique<ZipIterator>(context, *this, std::move(inside), std::move(opened));
}

}  // namespace

void Zip::Describe(OptionTable<Zip>& table) {
  table
      .Field("prefix", &Zip::prefix,
             "a prefix of the field names, one for each input; without it names must differ")
      .Field("strict", &Zip::strict, "inputs of different lengths are an error");
}

template <>
const std::vector<Option>& OptionsOf<Zip>() {
  static const auto options = WithObjects<Zip>(
      {ObjectOption("inputs", &Zip::inputs, "what stands side by side", /*required=*/true)});
  return options;
}

Result<Dataset> Zip::Build() const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<Dataset> datasets, inputs.Build(kName));
  if (strict) STOKER_RETURN_IF_ERROR(CheckLengths(datasets));
  STOKER_ASSIGN_OR_RETURN(Spec spec, ZippedSpec(datasets, prefix));
  return Dataset(std::make_shared<ZipNode>(datasets, std::move(spec), strict));
}

}  // namespace stoker
