#include "stoker/data/nodes/flat_map.h"

#include "stoker/data/core/check_element.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/user_transform.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/nodes/unpack.h"

namespace stoker {
namespace {

// Puts the arrays of all elements that the function makes one after the other into one element, so
// that they travel together.
class PackingTransform final : public UserTransform {
 public:
  PackingTransform(const FlatMap& flat_map, Spec output)
      : function_(flat_map.function), output_(std::move(output)), random_(flat_map.random) {}

  bool random() const override { return random_; }

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    STOKER_ASSIGN_OR_RETURN(std::vector<Element> made, Call(element, rng, scratch));
    std::vector<Array> arrays;
    for (Element& one : made) {
      one.key = element.key;
      STOKER_RETURN_IF_ERROR(CheckElement("flat_map", output_, one));
      for (Array& array : one.arrays) arrays.push_back(std::move(array));
    }
    element.arrays = std::move(arrays);
    return OkStatus();
  }

 private:
  Result<std::vector<Element>> Call(const Element& element, Rng& rng, Scratch& scratch) const {
    const auto call = [&]() -> Result<std::vector<Element>> {
      Result<std::vector<Element>> made = function_(element, rng, scratch);
      if (!made.ok()) return FromFunction(made.status());
      return made;
    };
    return CatchExceptions(call, "flat_map: element {}: the function", element.key.index);
  }

  const std::function<Result<std::vector<Element>>(const Element&, Rng&, Scratch&)> function_;
  const Spec output_;
  const bool random_;
};

class FlatMapNode final : public UnpackingNode {
 public:
  FlatMapNode(Dataset packed, Spec spec)
      : UnpackingNode(std::string(FlatMap::kName), std::move(spec),
                      packed.cardinality() == Cardinality::Of(0) ? Cardinality::Of(0)
                                                                 : Cardinality::Unknown(),
                      {packed}) {}

  std::string_view Disturbs() const override { return "makes other elements out of each"; }
  std::optional<int64_t> MemoryToRead(int64_t) const override { return std::nullopt; }

  Result<int64_t> CountPieces(const Element& whole) const override {
    return std::ssize(whole.arrays) / std::ssize(spec().fields);
  }

  Element Piece(const Element& whole, int64_t i, int64_t made) const override {
    const std::ptrdiff_t fields = std::ssize(spec().fields);
    const auto first = whole.arrays.begin() + static_cast<std::ptrdiff_t>(i) * fields;
    return {.key = {whole.key.epoch, made}, .arrays = {first, first + fields}};
  }
};

// The Spec of the packed elements, which have as many arrays as the function makes: like batches of
// unknown size, so they are never moved in columns.
Spec PackedSpec(Spec spec) {
  for (Field& field : spec.fields) field.shape = ShapeOfRows(kUnknownDim, field.shape);
  return spec;
}

}  // namespace

Result<Dataset> FlatMap::Build(Dataset input) const {
  if (!function) return InvalidArgument("flat_map: no function is given; set FlatMap::function");
  const Spec spec = output.fields.empty() ? input.spec() : output;
  if (spec.fields.empty())
    return InvalidArgument("flat_map: the elements have no fields; set FlatMap::output");
  auto transform = std::make_shared<PackingTransform>(*this, spec);
  return Dataset(std::make_shared<FlatMapNode>(
      MapDataset(std::move(input), "flat_map_function", "", PackedSpec(spec), std::move(transform)),
      spec));
}

Result<Dataset> operator|(Result<Dataset> input, const FlatMap& flat_map) {
  if (!input.ok()) return input;
  return CheckDepth(flat_map.Build(*std::move(input)));
}

}  // namespace stoker
