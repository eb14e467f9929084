#include "stoker/data/nodes/unpack.h"

#include "stoker/data/core/saved_count.h"
#include "stoker/data/nodes/held_input.h"

namespace stoker {
namespace {

class UnpackIterator final : public Iterator {
 public:
  UnpackIterator(const OpenContext& context, const UnpackingNode& node,
                 std::unique_ptr<Iterator> input)
      : Iterator(context, node),
        node_(node),
        input_(
            context, node, std::move(input), [this] { return Held(); },
            HeldInputOptions{.for_long = false}) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    if (input_.must_recover()) STOKER_RETURN_IF_ERROR(RecoverWhole());
    while (!whole_) {
      HeldElement next;
      STOKER_ASSIGN_OR_RETURN(const bool more, input_.Next(next));
      if (!more) return std::nullopt;
      whole_ = std::move(next);
      given_ = 0;
      STOKER_ASSIGN_OR_RETURN(pieces_, node_.CountPieces(whole_->element));
      DropIfDone();
    }
    Element piece = node_.Piece(whole_->element, given_++, made_++);
    DropIfDone();
    return piece;
  }

  void DropIfDone() {
    if (given_ < pieces_) return;
    input_.Release(*std::move(whole_));
    whole_.reset();
  }

  std::vector<const HeldElement*> Held() const {
    std::vector<const HeldElement*> held;
    if (whole_) held.push_back(&*whole_);
    return held;
  }

  Status RecoverWhole() {
    STOKER_ASSIGN_OR_RETURN(std::vector<HeldElement> held, input_.Recover());
    if (held.empty()) return OkStatus();
    const size_t wholes = held.size();
    whole_ = std::move(held.back());
    STOKER_ASSIGN_OR_RETURN(pieces_, node_.CountPieces(whole_->element));
    if (wholes > 1 || given_ >= pieces_) {
      return DataLoss(
          "{}: the saved position is after {} of the {} pieces of an element, in {} at once; it "
          "is damaged, or the data have changed",
          node_.name(), given_, pieces_, wholes);
    }
    return OkStatus();
  }

  Result<Json> DoSave() const override { return input_.Save({{"made", made_}, {"given", given_}}); }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(made_, SavedCount(node_.name(), state, "made"));
    STOKER_ASSIGN_OR_RETURN(given_, SavedInteger(state, "given"));
    return input_.Restore(state);
  }

  const UnpackingNode& node_;
  HeldInput input_;
  int64_t made_ = 0;                  // pieces handed out in this pass
  std::optional<HeldElement> whole_;  // whose turn it is; nothing between two of them
  int64_t pieces_ = 0, given_ = 0;    // of whole_
};

}  // namespace

Result<std::unique_ptr<Iterator>> UnpackingNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> elements, context.OpenInput(input()));
  return std::make_unique<UnpackIterator>(context, *this, std::move(elements));
}

}  // namespace stoker
