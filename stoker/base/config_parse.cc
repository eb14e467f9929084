// Reading YAML: yaml-cpp's event interface, because its Node drops duplicate keys and the places of
// keys.
#include "stoker/base/config_parse.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "stoker/base/problems.h"

namespace stoker {
namespace {

// Far beyond any recipe, and small enough that hostile input is refused before it costs anything.
constexpr size_t kMaxTextBytes = 4 << 20;
constexpr int kMaxDepth = 64;
constexpr size_t kMaxNodes = 100'000;
// YAML itself allows 1024 characters, quotes and escapes included.
constexpr size_t kMaxKeyBytes = 200;
constexpr int kMaxRepeats = 100;  // of keys, which are listed one by one

// Leaves yaml-cpp's parser, which reports its own errors by exceptions as well. Never leaves this
// file.
struct YamlError {
  ConfigLocation location;
  std::string message;
};

struct Measure {
  size_t nodes = 1;
  int depth = 1;
};

Measure MeasureOf(const ConfigNode& node) {
  Measure total;
  const auto add = [&total](const ConfigNode& child) {
    const Measure measure = MeasureOf(child);
    total.nodes += measure.nodes;
    total.depth = std::max(total.depth, measure.depth + 1);
  };
  for (const ConfigNode& item : node.items) add(item);
  for (const ConfigNode::Entry& entry : node.entries) add(entry.value);
  return total;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view name) : file_(std::make_shared<const std::string>(name)) {}

  ParsedYaml Take() { return {std::move(root_), repeats_.ToStatus()}; }
  // `error`, and the keys that were found twice before it.
  Status WithRepeats(const Status& error) const {
    Problems all = repeats_;
    all.Add(error);
    return all.ToStatus();
  }

  ConfigLocation LocationOf(const YAML::Mark& mark) const {
    if (mark.is_null()) return {file_, 0, 0};
    return {file_, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Fail(mark, "a second document starts here; a file holds one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (AwaitsKey()) Fail(mark, "a key is missing before the ':', or is null");
    Add(NewNode(mark, ConfigNode::Kind::kNull), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";  // what yaml-cpp reports for quotes and block scalars
    if (!quoted && tag != "?") FailOnTag(mark, tag);
    if (AwaitsKey()) {
      TakeKey(mark, value, quoted);
      if (anchor != 0) Fail(mark, "an anchor on a key is not supported; put it on a value");
      return;
    }
    ConfigNode node = NewNode(mark, ConfigNode::Kind::kScalar);
    node.scalar = value;
    node.quoted = quoted;
    Add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (AwaitsKey()) Fail(mark, "an alias cannot be a key; write the key out");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Fail(mark, "this alias stands inside the value that it names");
    const Measure measure = MeasureOf(found->second);
    CountNodes(mark, measure.nodes);
    CheckDepth(mark, static_cast<int>(open_.size()) + measure.depth);
    Add(found->second, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, ConfigNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, ConfigNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map whose end has not come yet.
  struct Frame {
    ConfigNode node;
    YAML::anchor_t anchor;
    std::optional<ConfigNode::Entry> pending;        // a key that waits for its value
    bool repeats = false;                            // the pending key is there already
    std::unordered_map<std::string, int> key_lines;  // of the keys so far
  };

  [[noreturn]] void Fail(const YAML::Mark& mark, std::string message) const {
    throw YamlError{LocationOf(mark), std::move(message)};
  }
  [[noreturn]] void FailOnTag(const YAML::Mark& mark, const std::string& tag) const {
    Fail(mark, fmt::format("the tag '{}' is not supported; leave it out", tag));
  }

  bool AwaitsKey() const {
    return !open_.empty() && open_.back().node.kind == ConfigNode::Kind::kMap &&
           !open_.back().pending;
  }

  void CountNodes(const YAML::Mark& mark, size_t more) {
    nodes_ += more;
    if (nodes_ > kMaxNodes)
      Fail(mark, fmt::format("more than {} values, aliases counted in full", kMaxNodes));
  }
  void CheckDepth(const YAML::Mark& mark, int depth) const {
    if (depth > kMaxDepth)
      Fail(mark, fmt::format("lists and maps are nested more than {} deep", kMaxDepth));
  }

  ConfigNode NewNode(const YAML::Mark& mark, ConfigNode::Kind kind) {
    CountNodes(mark, 1);
    CheckDepth(mark, static_cast<int>(open_.size()) + 1);
    ConfigNode node;
    node.kind = kind;
    node.location = LocationOf(mark);
    return node;
  }

  void TakeKey(const YAML::Mark& mark, const std::string& key, bool quoted) {
    Frame& map = open_.back();
    if (key == "<<" && !quoted)
      Fail(mark, "merge keys ('<<') are not supported; use an alias for each value");
    if (key.size() > kMaxKeyBytes)
      Fail(mark, fmt::format("a key of {} bytes; at most {}", key.size(), kMaxKeyBytes));
    const auto [first, is_new] = map.key_lines.emplace(key, mark.line + 1);
    map.repeats = !is_new;
    if (!is_new) NoteRepeat(mark, key, first->second);
    map.pending = ConfigNode::Entry{key, LocationOf(mark), {}};
  }

  void NoteRepeat(const YAML::Mark& mark, const std::string& key, int first_line) {
    const std::string message =
        fmt::format("the key '{}' is already on line {}; remove one", key, first_line);
    if (++repeat_count_ > kMaxRepeats) Fail(mark, message);
    repeats_.Add(InvalidArgument("{}: {}", LocationOf(mark).ToString(), message));
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            ConfigNode::Kind kind) {
    if (AwaitsKey())
      Fail(mark, "a list or map cannot be a key, keys are text; or is a ']' or '}' missing?");
    if (tag != "?" && !tag.empty() && tag != "!") FailOnTag(mark, tag);
    ConfigNode node = NewNode(mark, kind);
    open_.push_back({.node = std::move(node), .anchor = anchor});
  }

  void Close() {
    Frame done = std::move(open_.back());
    open_.pop_back();
    Add(std::move(done.node), done.anchor);
  }

  void Add(ConfigNode node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      CountNodes(YAML::Mark(), MeasureOf(node).nodes);  // the copy that is kept for aliases
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = open_.back();
    if (parent.node.kind == ConfigNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    parent.pending->value = std::move(node);
    if (!parent.repeats) parent.node.entries.push_back(*std::move(parent.pending));
    parent.pending.reset();
  }

  const std::shared_ptr<const std::string> file_;
  ConfigNode root_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, ConfigNode> anchors_;
  size_t nodes_ = 0;
  int documents_ = 0;
  Problems repeats_;
  int repeat_count_ = 0;
};

// yaml-cpp takes quotes that the end of the text cuts off for closed, but not those cut off by the
// end of the document, so that is marked.
std::string WithEndMark(std::string_view text) {
  return fmt::format("{}{}...\n", text, text.empty() || text.ends_with('\n') ? "" : "\n");
}

int LineCount(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// Whether line `number`, counted from 0, has a tab before its first word.
bool IndentsWithTab(std::string_view text, int number) {
  for (; number > 0; --number) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::string_view indent = text.substr(0, text.find_first_not_of(" \t"));
  return indent.find('\t') != std::string_view::npos;
}

// Returns where a quoted text ends that begins at `begin`: after its last quote, or npos.
size_t EndOfQuotes(std::string_view text, size_t begin) {
  const char quote = text[begin];
  for (size_t at = begin + 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      const bool twice = quote == '\'' && text.substr(at + 1).starts_with(quote);
      if (!twice) return at + 1;
      ++at;
    }
  }
  return std::string_view::npos;
}

// Whether a value begins at `at`, so that a quote there opens one: not in the middle of a plain
// text.
bool BeginsValue(std::string_view text, size_t at) {
  const size_t line = text.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
  const std::string_view before = text.substr(line, at - line);
  const size_t last = before.find_last_not_of(" \t");
  if (last == before.npos) return true;
  const bool spaced = last + 1 < before.size();
  return before[last] == '[' || before[last] == '{' || before[last] == ',' ||
         (spaced && (before[last] == ':' || before[last] == '-' || before[last] == '?'));
}

// Returns the place of the quote that nothing closes; npos if it is not found.
size_t UnclosedQuote(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n";
  for (size_t at = 0; at < text.size(); ++at) {
    const bool after_space = at == 0 || kSpaces.find(text[at - 1]) != std::string_view::npos;
    if (after_space && text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if ((text[at] == '"' || text[at] == '\'') && BeginsValue(text, at)) {
      const size_t end = EndOfQuotes(text, at);
      if (end == std::string_view::npos) return at;
      at = end - 1;
    }
  }
  return std::string_view::npos;
}

// What yaml-cpp reports, in words that help.
Status ExplainYaml(const YAML::Exception& error, std::string_view text, std::string_view marked,
                   ConfigLocation location) {
  if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR && error.mark.line + 1 == LineCount(marked)) {
    const size_t quote = UnclosedQuote(text);
    if (location.line == 0 || quote == std::string_view::npos)
      return InvalidArgument("{}: the text ends inside quotes; close them", *location.file);
    location.line = LineCount(text.substr(0, quote)) + 1;
    location.column = static_cast<int>(quote - (text.rfind('\n', quote) + 1)) + 1;
    return InvalidArgument("{}: the quotes that open here are closed nowhere", location.ToString());
  }
  if (IndentsWithTab(text, error.mark.line)) {
    return InvalidArgument("{}: the line begins with a tab, which YAML does not allow; use spaces",
                           location.ToString());
  }
  return InvalidArgument("{}: this is not YAML: {}", location.ToString(), error.msg);
}

}  // namespace

Result<ConfigNode> ParseYaml(std::string_view text, std::string_view name) {
  STOKER_ASSIGN_OR_RETURN(ParsedYaml parsed, ParseYamlPastRepeats(text, name));
  STOKER_RETURN_IF_ERROR(parsed.repeated);
  return std::move(parsed.root);
}

Result<ParsedYaml> ParseYamlPastRepeats(std::string_view text, std::string_view name) {
  if (text.size() > kMaxTextBytes) {
    return InvalidArgument("{}: {} bytes are no recipe; at most {} are read", name, text.size(),
                           kMaxTextBytes);
  }
  // UTF-16 is full of them, and what yaml-cpp makes of them is no YAML that anybody wrote.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return InvalidArgument("{}: byte {} is 0, so this is not UTF-8 text; save it as UTF-8", name,
                           nul);
  }
  TreeBuilder builder(name);
  const std::string marked = WithEndMark(text);
  try {
    std::istringstream stream(marked);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YamlError& error) {
    return builder.WithRepeats(InvalidArgument("{}: {}", error.location.ToString(), error.message));
  } catch (const YAML::Exception& error) {
    return builder.WithRepeats(ExplainYaml(error, text, marked, builder.LocationOf(error.mark)));
  }
  return builder.Take();
}

}  // namespace stoker
