#include "stoker/data/nodes/from_generator.h"

#include "stoker/data/core/check_element.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {
namespace {

using MakeNext = std::function<Result<std::optional<Element>>()>;
using BeginPass = std::function<MakeNext(uint64_t epoch)>;

class GeneratorIterator final : public Iterator {
 public:
  GeneratorIterator(const OpenContext& context, const DatasetNode& node, const BeginPass& begin)
      : Iterator(context, node),
        node_(node),
        begin_(begin),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    if (!next_) STOKER_RETURN_IF_ERROR(Start());
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, Make());
    position_ = made_;
    return element;
  }

  Status Start() {
    const auto begin = [&] {
      next_ = begin_(epoch_);
      return OkStatus();
    };
    STOKER_RETURN_IF_ERROR(
        CatchExceptions(begin, "{}: starting epoch {}: the function", node_.name(), epoch_));
    while (made_ < position_) {
      STOKER_RETURN_IF_ERROR(CheckStop());
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, Make());
      if (!element) {
        return OutOfRange(
            "{}: the saved position is element {}, but the generator ended after {}; it must give "
            "the same elements each time",
            node_.name(), position_, made_);
      }
    }
    return OkStatus();
  }

  // Opened tolerantly, it counts an element that fails as made, and goes on.
  Result<std::optional<Element>> Make() {
    Result<std::optional<Element>> element = CatchExceptions(
        [&] { return MakeOrFail(); }, "{}: element {}: the function", node_.name(), made_);
    if (element.ok() || !tolerant_ || !IsAboutOneElement(element.status())) return element;
    return FailedElement(element.status(), {node_.name(), {epoch_, made_++}});
  }

  Result<std::optional<Element>> MakeOrFail() {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, next_());
    if (!element) return std::nullopt;
    element->key = {epoch_, made_};
    STOKER_RETURN_IF_ERROR(CheckElement(node_.name(), node_.spec(), *element));
    ++made_;
    return element;
  }

  Result<Json> DoSave() const override { return Json{{"epoch", epoch_}, {"position", position_}}; }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(position_, SavedInteger(state, "position"));
    return OkStatus();
  }

  const DatasetNode& node_;
  const BeginPass& begin_;
  const bool tolerant_;
  uint64_t epoch_;
  int64_t position_ = 0;  // of the next element handed out
  int64_t made_ = 0;      // elements the function has made in this pass
  MakeNext next_;
};

class GeneratorNode final : public DatasetNode {
 public:
  GeneratorNode(std::string name, Spec spec, BeginPass begin)
      : DatasetNode(std::move(name), std::move(spec), Cardinality::Unknown(), {}),
        begin_(std::move(begin)) {}

  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return spec().BytesApart(count);
  }
  bool tolerates_errors() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    return std::make_unique<GeneratorIterator>(context, *this, begin_);
  }

 private:
  const BeginPass begin_;
};

}  // namespace

Dataset FromGenerator(Spec spec, BeginPass begin, std::string name) {
  return Dataset(
      std::make_shared<GeneratorNode>(std::move(name), std::move(spec), std::move(begin)));
}

}  // namespace stoker
