// ConfigNode: a recipe as a tree that remembers where each value was written, so that every error
// can say line and column.
//
// Only this module reads and writes YAML; the rest of Stoker sees ConfigNode.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// The place of a value in its file. Lines and columns count from 1; line 0: not read from a file.
struct ConfigLocation {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;

  // Returns "recipe.yaml:12:5", a text such as "--set train.epochs" if there is no line, or "(set
  // in code)".
  std::string ToString() const;
};

struct ConfigNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  std::string scalar;   // kScalar: the text as written, without quotes
  bool quoted = false;  // kScalar: was in quotes, so it is text even if it looks like a number
  std::vector<ConfigNode> items;  // kList
  std::vector<Entry> entries;     // kMap, in the order written; keys are unique
  ConfigLocation location;

  static ConfigNode Scalar(std::string text, bool quoted = false);
  static ConfigNode List(std::vector<ConfigNode> items);
  static ConfigNode Map(std::vector<Entry> entries);

  // Returns the value under `key`, or null if this is not a map or has no such key.
  const ConfigNode* Find(std::string_view key) const;
  ConfigNode* Find(std::string_view key);
  // Takes `key` with its value out of a map, if it is there.
  void Erase(std::string_view key);

  // Returns, for messages, "a number", "true or false", "text", "a list", "a map" or "nothing".
  std::string_view KindName() const;
};

struct ConfigNode::Entry {
  std::string key;
  ConfigLocation key_location;
  ConfigNode value;
};

// Reads one YAML document. `name` is the file's name, for messages. Anchors and aliases work;
// several documents, tags, duplicate keys, merge keys and non-scalar keys are errors with line and
// column. So is what no recipe needs: more than 4 MiB, 64 levels or 100,000 values (aliases counted
// in full), a key of more than 200 bytes.
Result<ConfigNode> ParseYaml(std::string_view text, std::string_view name);

// Writes YAML that ParseYaml reads back to an equal tree: maps one key a line, short lists and
// operator options in one line ({size: 128, drop_remainder: true}).
std::string ToYaml(const ConfigNode& node);

// Writes the same in one line: "{size: 128, drop_remainder: true}".
std::string ToYamlLine(const ConfigNode& node);

// Applies `train.epochs=1`: sets the value at a dotted path and makes the maps that are missing.
// Elements of a pipeline list are named by operator or by number: `data.train.batch.size=64`,
// `data.train.3.batch.size=64`. A bare name becomes a map if the path continues through it: `adamw`
// with `optimizer.adamw.weight_decay=0`. The value is YAML. Errors: no '=', an empty key, a path
// that leads through another scalar, an operator that is not in the list or is there twice. On
// errors `root` is unchanged.
Status SetByPath(ConfigNode& root, std::string_view assignment);

// Returns the dotted paths whose values differ, each as "train.epochs: 3 -> 5"; "(absent)" stands
// for a missing value. Ignores locations and the order of keys.
std::vector<std::string> Differences(const ConfigNode& before, const ConfigNode& after);

// InvalidArgument at the first key of the map `node` that is not among `names`. `what` owns the
// keys (may be empty: a whole recipe), `noun` is what messages call one:
//   recipe.yaml:12:7: data: unknown key 'trian'; did you mean 'train'?
//   recipe.yaml:12:7: data: unknown key 'x'; known are root, classes, train, eval
// Every strict section of a recipe is checked with this.
Status CheckKeys(const ConfigNode& node, std::string_view what, std::string_view noun,
                 const std::vector<std::string>& names);

// Returns the advice about a name that is not among `names`: "did you mean 'train'?", "known are a,
// b" or "there are none".
std::string NameAdvice(std::string_view wanted, const std::vector<std::string>& names);

// Returns the name in `names` with the fewest edits (a swap of neighbours is one) to `wanted`; the
// first of equals. Empty if that takes more edits than a third of its length (one is always
// allowed), or as many as it has letters, so that suggestions are plausible.
std::string NearestName(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace stoker
