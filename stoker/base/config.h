// ConfigNode: a recipe as a tree that remembers where each value stood, so that every error can say
// line and column.
//
// YAML is only read and written here; the rest of Stoker sees ConfigNode.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Where a value stood. Lines and columns count from 1; line 0 means it was not read from a file.
struct ConfigLocation {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;

  // "recipe.yaml:12:5", or "--set train.epochs" and the like where there is no line, or "(set in
  // code)".
  std::string ToString() const;
};

struct ConfigNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  std::string scalar;             // kScalar: the text as written, without quotes
  bool quoted = false;            // kScalar: stood in quotes, so it is text whatever it looks like
  std::vector<ConfigNode> items;  // kList
  std::vector<Entry> entries;     // kMap, in the order written; keys are unique
  ConfigLocation location;

  static ConfigNode Scalar(std::string text, bool quoted = false);
  static ConfigNode List(std::vector<ConfigNode> items);
  static ConfigNode Map(std::vector<Entry> entries);

  // The value under `key`, or null where this is no map or has no such key.
  const ConfigNode* Find(std::string_view key) const;
  ConfigNode* Find(std::string_view key);

  // "a number", "true or false", "text", "a list", "a map", "nothing": for messages.
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

// The same in one line: "{size: 128, drop_remainder: true}".
std::string ToYamlLine(const ConfigNode& node);

// Applies `train.epochs=1`: sets the value at a dotted path, making maps on the way. Elements of a
// pipeline list are named by operator or by number: `data.train.batch.size=64`,
// `data.train.3.batch.size=64`. A bare name becomes a map when the path goes on through it: `adamw`
// with `optimizer.adamw.weight_decay=0`. The value is YAML. Errors: no '=', an empty key, a path
// that leads through another scalar, an operator that is not in the list or is there twice. Nothing
// is changed then.
Status SetByPath(ConfigNode& root, std::string_view assignment);

// The dotted paths whose values differ, each as "train.epochs: 3 -> 5"; "(absent)" where a side has
// none. Locations and the order of keys do not count.
std::vector<std::string> Differences(const ConfigNode& before, const ConfigNode& after);

// InvalidArgument at the first key of the map `node` that is not among `names`. `what` owns the
// keys (may be empty: a whole recipe), `noun` is what messages call one:
//   recipe.yaml:12:7: data: unknown key 'trian'; did you mean 'train'?
//   recipe.yaml:12:7: data: unknown key 'x'; known are root, classes, train, eval
// Every strict section of a recipe is checked with this.
Status CheckKeys(const ConfigNode& node, std::string_view what, std::string_view noun,
                 const std::vector<std::string>& names);

// What to do about a name that is not among `names`: "did you mean 'train'?", "known are a, b", or
// "there are none".
std::string NameAdvice(std::string_view wanted, const std::vector<std::string>& names);

// The name in `names` with the fewest edits (a swap of neighbours is one) to `wanted`; the first of
// equals. Empty where none is near, so that a suggestion is rarely silly: more edits than a third
// of its length (but one is always allowed), or as many as it has letters.
std::string NearestName(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace stoker
