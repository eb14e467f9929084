#include "stoker/data/ops/combine_internal.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

bool Agree(const Spec& a, const Spec& b) {
  return std::ranges::equal(a.fields, b.fields, [](const Field& x, const Field& y) {
    return x.name == y.name && x.dtype == y.dtype && x.shape.size() == y.shape.size();
  });
}

// The rows of `places` that one input has: their positions there, and their numbers in `places`.
struct Share {
  std::vector<int64_t> positions;
  std::vector<size_t> rows;
};

Status NumberKeys(Rows& rows, int64_t input, int64_t inputs) {
  for (SampleKey& key : rows.keys) {
    STOKER_ASSIGN_OR_RETURN(key, KeyOfInput(key, input, inputs));
  }
  return OkStatus();
}

// Copies the rows of `part` to their places in `all`, whose columns are made with the first part.
Status Scatter(const DatasetNode& node, const Share& share, const Rows& part, Scratch& scratch,
               Rows& all) {
  for (size_t c = 0; c < part.columns.size(); ++c) {
    const Array& from = part.columns[c];
    if (all.columns.size() == c) {
      Shape shape = from.shape();
      shape[0] = all.size();
      all.columns.push_back(scratch.NewArray(from.dtype(), std::move(shape)));
    }
    const Array& to = all.columns[c];
    const size_t bytes = from.num_bytes() / share.rows.size();
    if (bytes * static_cast<size_t>(all.size()) != to.num_bytes()) {
      return InvalidArgument(
          "{}: field '{}' has shapes that differ between the inputs; resize, crop or pad first",
          node.name(), node.spec().fields[c].name);
    }
    for (size_t i = 0; i < share.rows.size() && bytes > 0; ++i)
      std::memcpy(to.data() + share.rows[i] * bytes, from.data() + i * bytes, bytes);
  }
  for (size_t i = 0; i < share.rows.size(); ++i) all.keys[share.rows[i]] = part.keys[i];
  return OkStatus();
}

}  // namespace

bool AllRandomAccess(const std::vector<Dataset>& inputs) {
  return std::ranges::all_of(inputs,
                             [](const Dataset& input) { return input.node().random_access(); });
}

Result<Spec> CommonSpec(std::string_view who, const std::vector<Dataset>& inputs) {
  Spec common = inputs.front().spec();
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Spec& spec = inputs[i].spec();
    if (!Agree(common, spec)) {
      return InvalidArgument(
          "{}: input 0 has elements {}, input {} has {}; fields must agree in name, dtype, "
          "dimensions and order: cast, rename or drop what differs",
          who, inputs.front().spec().ToString(), i, spec.ToString());
    }
    for (size_t f = 0; f < spec.fields.size(); ++f) {
      for (size_t d = 0; d < spec.fields[f].shape.size(); ++d) {
        int64_t& extent = common.fields[f].shape[d];
        if (extent != spec.fields[f].shape[d]) extent = kUnknownDim;
      }
    }
  }
  return common;
}

Result<SampleKey> KeyOfInput(const SampleKey& key, int64_t input, int64_t inputs) {
  SampleKey out{key.epoch, 0};
  if (__builtin_mul_overflow(key.index, inputs, &out.index) ||
      __builtin_add_overflow(out.index, input, &out.index)) {
    return OutOfRange(
        "element {} of input {} of {} has no number of its own within 63 bits; combine fewer "
        "pipelines, or less often",
        key.index, input, inputs);
  }
  return out;
}

bool AllRereadable(const std::vector<Dataset>& inputs) {
  return std::ranges::all_of(inputs,
                             [](const Dataset& input) { return input.node().rereadable(); });
}

Result<Element> ReadKeyOfInput(const DatasetNode& node, const SampleKey& key,
                               const ReadContext& context) {
  const int64_t inputs = std::ssize(node.inputs());
  const auto input = static_cast<size_t>(key.index % inputs);
  STOKER_ASSIGN_OR_RETURN(Element element, node.inputs()[input].node().ReadKey(
                                               {key.epoch, key.index / inputs}, context));
  element.key = key;
  return element;
}

Result<std::vector<std::unique_ptr<Iterator>>> OpenAll(const OpenContext& context,
                                                       const std::vector<Dataset>& inputs) {
  std::vector<std::unique_ptr<Iterator>> opened;
  for (const Dataset& input : inputs) {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, context.OpenInput(input));
    opened.push_back(std::move(iterator));
  }
  return opened;
}

Result<Json> SaveAll(const std::vector<std::unique_ptr<Iterator>>& inputs) {
  Json states = Json::array();
  for (const std::unique_ptr<Iterator>& input : inputs) {
    STOKER_ASSIGN_OR_RETURN(Json state, input->Save());
    states.push_back(std::move(state));
  }
  return states;
}

Status RestoreAll(const Json& state, const std::vector<std::unique_ptr<Iterator>>& inputs) {
  const auto states = state.find("inputs");
  if (states == state.end() || !states->is_array() || states->size() != inputs.size()) {
    return DataLoss(
        "the saved pipeline position has no list of {} inputs; it was saved by another pipeline or "
        "is damaged",
        inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    STOKER_RETURN_IF_ERROR(inputs[i]->Restore((*states)[i]));
  return OkStatus();
}

std::optional<int64_t> MemoryToGather(const DatasetNode& node, int64_t count) {
  std::optional<int64_t> most = 0;
  for (const Dataset& input : node.inputs()) {
    const std::optional<int64_t> bytes = input.node().MemoryToRead(count);
    if (!bytes) return std::nullopt;
    most = std::max(*most, *bytes);
  }
  return count == 1 ? most : AddSizes(most, node.spec().BytesTogether(count));
}

Result<Element> ReadPlace(const DatasetNode& node, const Place& place, const ReadContext& context) {
  const DatasetNode& input = node.inputs()[static_cast<size_t>(place.input)].node();
  STOKER_ASSIGN_OR_RETURN(Element element, input.Read(place.position, context));
  STOKER_ASSIGN_OR_RETURN(element.key,
                          KeyOfInput(element.key, place.input, std::ssize(node.inputs())));
  return element;
}

Result<Rows> GatherPlaces(const DatasetNode& node, std::span<const Place> places,
                          const ReadContext& context) {
  const int64_t inputs = std::ssize(node.inputs());
  std::vector<Share> shares(static_cast<size_t>(inputs));
  for (size_t i = 0; i < places.size(); ++i) {
    Share& share = shares[static_cast<size_t>(places[i].input)];
    share.positions.push_back(places[i].position);
    share.rows.push_back(i);
  }
  Rows all;
  all.keys.resize(places.size());
  Scratch scratch = context.scratch(node);
  for (int64_t i = 0; i < inputs; ++i) {
    const Share& share = shares[static_cast<size_t>(i)];
    if (share.rows.empty()) continue;
    const DatasetNode& input = node.inputs()[static_cast<size_t>(i)].node();
    STOKER_ASSIGN_OR_RETURN(Rows part, input.ReadRows(share.positions, context));
    STOKER_RETURN_IF_ERROR(NumberKeys(part, i, inputs));
    if (share.rows.size() == places.size()) return part;
    STOKER_RETURN_IF_ERROR(Scatter(node, share, part, scratch, all));
  }
  return all;
}

}  // namespace stoker
