#include "stoker/data/text/word_trie.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace stoker {
namespace {

constexpr size_t kBytes = 256;

}  // namespace

class WordTrie::Builder {
 public:
  Builder(WordTrie& trie, const std::vector<std::string>& tokens) : trie_(trie), tokens_(tokens) {
    order_.resize(tokens.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::sort(order_, {}, [&](int32_t i) -> const std::string& { return Token(i); });
    Reserve(kBytes);
    trie_.nodes_[kRoot].parent = kRoot;  // no node's child, and not free
    Place(kRoot, order_, 0);
    Reserve(last_used_ + kBytes + 1);
  }

 private:
  const std::string& Token(int32_t i) const { return tokens_[static_cast<size_t>(i)]; }

  // Tokens with the same byte after their common prefix.
  struct Child {
    uint8_t byte;
    std::span<const int32_t> tokens;
  };

  std::vector<Child> ChildrenOf(std::span<const int32_t> tokens, size_t depth) const {
    std::vector<Child> children;
    for (size_t begin = 0; begin < tokens.size();) {
      const auto byte = static_cast<uint8_t>(Token(tokens[begin])[depth]);
      size_t end = begin + 1;
      while (end < tokens.size() && static_cast<uint8_t>(Token(tokens[end])[depth]) == byte) ++end;
      children.push_back({byte, tokens.subspan(begin, end - begin)});
      begin = end;
    }
    return children;
  }

  // `tokens`, sorted, share their first `depth` bytes, which lead to `node`.
  void Place(State node, std::span<const int32_t> tokens, size_t depth) {
    while (!tokens.empty() && Token(tokens.front()).size() == depth) {
      if (depth > 0) trie_.tokens_[node] = tokens.front();
      tokens = tokens.subspan(1);
    }
    const std::vector<Child> children = ChildrenOf(tokens, depth);
    if (children.empty()) return;
    const State base = FindRoom(children);
    trie_.nodes_[node].children = base;
    for (const Child& child : children) {
      trie_.nodes_[base + child.byte].parent = node;
      last_used_ = std::max<size_t>(last_used_, base + child.byte);
    }
    for (const Child& child : children) Place(base + child.byte, child.tokens, depth + 1);
  }

  // The first place where all children fit between those that are there. What lies before
  // `first_free_` is nearly full and not looked at again, so that building takes about linear time.
  State FindRoom(const std::vector<Child>& children) {
    size_t tried = 0, taken = 0;
    size_t at = std::max<size_t>(first_free_, children.front().byte + 1);
    for (;; ++at, ++tried) {
      Reserve(at + kBytes + 1);
      if (!IsFree(at)) {
        ++taken;
        continue;
      }
      const size_t base = at - children.front().byte;
      if (std::ranges::all_of(children, [&](const Child& c) { return IsFree(base + c.byte); })) {
        constexpr size_t kMany = 64;
        if (tried > kMany && taken * 20 > tried * 19) first_free_ = at;
        return static_cast<State>(base);
      }
    }
  }

  bool IsFree(size_t node) const { return trie_.nodes_[node].parent == kNone; }

  void Reserve(size_t size) {
    if (size <= trie_.nodes_.size()) return;
    trie_.nodes_.resize(std::max(size, trie_.nodes_.size() * 3 / 2));
    trie_.tokens_.resize(trie_.nodes_.size(), -1);
  }

  WordTrie& trie_;
  const std::vector<std::string>& tokens_;
  std::vector<int32_t> order_;
  size_t first_free_ = 1;
  size_t last_used_ = 0;
};

WordTrie::WordTrie(const std::vector<std::string>& tokens) { Builder(*this, tokens); }

bool WordTrie::StateBehind(std::string_view prefix, State& state) const {
  State at = kRoot;
  for (const char c : prefix) {
    const State next = nodes_[at].children + static_cast<uint8_t>(c);
    if (nodes_[next].parent != at) return false;
    at = next;
  }
  state = at;
  return true;
}

}  // namespace stoker
