#include "stoker/run/input_section_internal.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/options.h"
#include "stoker/base/problems.h"

namespace stoker {
namespace {

constexpr std::string_view kInput = "input";

// Names are parts of the names of weights, and of texts that are read again.
bool IsNameOfInput(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<InputField> ReadInput(const ConfigNode::Entry& entry) {
  if (!IsNameOfInput(entry.key)) {
    return InvalidArgument(
        "{}: train.input: '{}' is no name of an input, which has letters, digits and underscores",
        entry.key_location.ToString(), entry.key);
  }
  InputField input{.name = entry.key, .field = {}};
  const Status read = ReadOption(entry.value, input.field);
  if (read.ok() && !input.field.empty()) return input;
  return InvalidArgument(
      "{}: train.input.{}: {}; name the field of the batches", entry.value.location.ToString(),
      entry.key, read.ok() ? "is empty" : read.message().substr(0, read.message().find(';')));
}

Status ReadInputs(const ConfigNode& node, std::vector<InputField>& inputs) {
  if (node.entries.empty()) {
    return InvalidArgument(
        "{}: train.input is an empty map; name a field, or write {{NAME: FIELD, NAME: FIELD}}",
        node.location.ToString());
  }
  Problems problems;
  for (const ConfigNode::Entry& entry : node.entries) {
    InputField input;
    problems.Take(ReadInput(entry), input);
    inputs.push_back(std::move(input));
  }
  return problems.ToStatus();
}

}  // namespace

Status TakeInputs(ConfigNode& section, std::vector<InputField>& inputs) {
  ConfigNode* const node = section.Find(kInput);
  if (node == nullptr || node->kind != ConfigNode::Kind::kMap) return OkStatus();
  std::vector<InputField> read;
  const Status status = ReadInputs(*node, read);
  if (!status.ok()) {
    section.Erase(kInput);
    return status;
  }
  ConfigNode first = std::move(node->entries.front().value);
  *node = std::move(first);
  std::ranges::sort(read, {}, &InputField::name);
  inputs = std::move(read);
  return OkStatus();
}

ConfigNode FilledInputs(const std::vector<InputField>& inputs, const std::string& main) {
  std::vector<InputField> ordered = inputs;
  std::ranges::stable_partition(ordered,
                                [&](const InputField& input) { return input.field == main; });
  ConfigNode filled = ConfigNode::Map({});
  for (const InputField& input : ordered)
    filled.entries.push_back({input.name, {}, WriteOption(input.field)});
  return filled;
}

}  // namespace stoker
