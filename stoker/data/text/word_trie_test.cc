#include "stoker/data/text/word_trie.h"

#include <set>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::word_trie_test {

// The same by looking at every token.
WordTrie::Match LongestOf(const std::vector<std::string>& tokens, std::string_view prefix,
                          std::string_view text) {
  WordTrie::Match best;
  const std::string whole = std::string(prefix) + std::string(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].size() > prefix.size() + best.length && whole.starts_with(tokens[i]))
      best = {tokens[i].size() - prefix.size(), static_cast<int32_t>(i)};
  }
  return best;
}

TEST(WordTrie, FindsTheLongestTokenThatATextBeginsWith) {
  const std::vector<std::string> tokens = {"a", "abc", "b", "abcde", "", "##", "##bc"};
  const WordTrie trie(tokens);
  EXPECT_EQ(trie.Longest(WordTrie::kRoot, "abcd").token, 1);
  EXPECT_EQ(trie.Longest(WordTrie::kRoot, "abcd").length, 3u);
  EXPECT_EQ(trie.Longest(WordTrie::kRoot, "ab").token, 0);
  EXPECT_EQ(trie.Longest(WordTrie::kRoot, "c").length, 0u);
  EXPECT_EQ(trie.Longest(WordTrie::kRoot, "").length, 0u);
  WordTrie::State behind = 0;
  ASSERT_TRUE(trie.StateBehind("##", behind));
  EXPECT_EQ(trie.Longest(behind, "bcd").token, 6);
  EXPECT_EQ(trie.Longest(behind, "a").length, 0u);
  EXPECT_FALSE(trie.StateBehind("x", behind));
}

TEST(WordTrie, OfAnyTokensAnswersAsAPlainSearch) {
  Rng rng(1, 0, 0, 0);
  for (int round = 0; round < 60; ++round) {
    // Few letters, so that tokens share beginnings; all bytes in some rounds.
    const uint64_t letters = round % 3 == 0 ? 256 : 3;
    const auto draw = [&](uint64_t most) {
      std::string text;
      for (uint64_t n = rng.Below(most + 1); n > 0; --n)
        text += static_cast<char>(letters == 256 ? rng.Below(256) : 'a' + rng.Below(letters));
      return text;
    };
    std::set<std::string> different;
    for (int i = 0; i < 200; ++i) different.insert(draw(6));
    const std::vector<std::string> tokens(different.begin(), different.end());
    const WordTrie trie(tokens);
    for (int i = 0; i < 200; ++i) {
      const std::string text = draw(10), prefix = draw(2);
      WordTrie::State from = WordTrie::kRoot;
      const bool there = trie.StateBehind(prefix, from);
      const bool begins = std::ranges::any_of(
          tokens, [&](const std::string& token) { return token.starts_with(prefix); });
      ASSERT_EQ(there, begins || prefix.empty());
      if (!there) continue;
      const WordTrie::Match found = trie.Longest(from, text),
                            wanted = LongestOf(tokens, prefix, text);
      ASSERT_EQ(found.length, wanted.length);
      if (wanted.length > 0) {
        ASSERT_EQ(found.token, wanted.token);
      }
    }
  }
}

TEST(WordTrie, MayBeEmpty) { EXPECT_EQ(WordTrie({}).Longest(WordTrie::kRoot, "a").length, 0u); }

}  // namespace stoker::word_trie_test
