#include "stoker/data/core/class_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/data/core/transform.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/shards.h"

namespace stoker {
namespace {

Result<std::vector<std::string>> ReadClassNames(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    if (name.ends_with('\r')) name.pop_back();
    if (name.empty()) {
      return DataLoss("{}: line {} is empty; it holds the name of a class on each line", path,
                      names.size() + 1);
    }
    names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

}  // namespace

const WordNumbers* FindWordNumbers(const Dataset& dataset, std::string_view field) {
  const auto* const numbers = dynamic_cast<const WordNumbers*>(dataset.node().element_wise());
  if (numbers != nullptr && numbers->numbered_field() == field)
    return numbers->words().empty() ? nullptr : numbers;
  const WordNumbers* of_all = nullptr;
  for (const Dataset& input : dataset.node().inputs()) {
    const WordNumbers* const found = FindWordNumbers(input, field);
    if (found == nullptr) continue;
    if (of_all != nullptr &&
        (of_all->words() != found->words() || of_all->first_number() != found->first_number()))
      return nullptr;
    of_all = found;
  }
  return of_all;
}

std::vector<std::string> FindClassNames(const Dataset& dataset, std::string_view label) {
  const auto* const numbers = dynamic_cast<const WordNumbers*>(dataset.node().element_wise());
  if (numbers != nullptr && numbers->numbered_field() == label)
    return numbers->first_number() == 0 ? numbers->words() : std::vector<std::string>();
  if (const auto* const known = dynamic_cast<const LabelNames*>(&dataset.node()))
    return known->ClassNames();
  for (const Dataset& input : dataset.node().inputs()) {
    std::vector<std::string> names = FindClassNames(input, label);
    if (!names.empty()) return names;
  }
  return {};
}

std::string FirstDifferenceOfClasses(const std::vector<std::string>& there,
                                     const std::vector<std::string>& here) {
  const auto [of_there, of_here] = std::ranges::mismatch(there, here);
  const auto name = [](const auto& at, const std::vector<std::string>& names) {
    return at == names.end() ? "nothing" : fmt::format("'{}'", *at);
  };
  return fmt::format("number {} is {} there and {} here", of_there - there.begin(),
                     name(of_there, there), name(of_here, here));
}

Status AgreedClassNames::Add(const std::string& path, std::vector<std::string> names) {
  if (names.empty() || names == names_) return OkStatus();
  if (names_.empty()) {
    path_ = path;
    names_ = std::move(names);
    return OkStatus();
  }
  return InvalidArgument(
      "{}: its classes are others than those of {}: {}; files of one source must have the same, or "
      "their labels mean different things",
      path, path_, FirstDifferenceOfClasses(names_, names));
}

std::string ClassNamesFileOf(const std::string& path) {
  return WithoutShardNumber(path) + ".classes.txt";
}

Status CheckClassNames(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || names[i].find_first_of("\r\n") != std::string::npos) {
      return InvalidArgument("class {} is called '{}'; a name is one line that is not empty", i,
                             names[i]);
    }
  }
  return OkStatus();
}

Status WriteClassNames(const std::string& path, const std::vector<std::string>& names) {
  STOKER_RETURN_IF_ERROR(CheckClassNames(names));
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return WriteFileAtomically(path, text);
}

Result<std::vector<std::string>> ReadClassNamesBeside(const std::vector<std::string>& paths) {
  std::set<std::string> seen;
  AgreedClassNames agreed;
  for (const std::string& path : paths) {
    // On a server, looking for what is hardly ever there costs a request, and may be forbidden.
    if (IsRemotePath(path)) continue;
    const std::string file = ClassNamesFileOf(path);
    if (!seen.insert(file).second) continue;
    Result<std::vector<std::string>> names = ReadClassNames(file);
    if (names.status().code() == StatusCode::kNotFound) continue;
    if (!names.ok()) return names.status();
    STOKER_RETURN_IF_ERROR(agreed.Add(file, *std::move(names)));
  }
  return agreed.names();
}

}  // namespace stoker
