#include "stoker/data/runtime/delivered.h"

#include <random>
#include <set>

#include "stoker/base/testing.h"

namespace stoker::delivered_test {

TEST(Delivered, TellsWhatASetOfPositionsWouldTellWhateverTheOrder) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (int64_t at = 0; at < 200;) {
      const int64_t end = at + 1 + random() % 9;
      ranges.emplace_back(at, end);
      at = end;
    }
    std::shuffle(ranges.begin(), ranges.end(), random);
    Delivered delivered;
    std::set<int64_t> reference;
    for (const auto& [begin, end] : ranges) {
      delivered.Add(begin, end);
      for (int64_t i = begin; i < end; ++i) reference.insert(i);
      Json state;
      delivered.SaveBeyond(0, state);
      STOKER_ASSERT_OK_AND_ASSIGN(const Delivered restored,
                                  Delivered::Restore(delivered.frontier(), state));
      for (const Delivered* d : {&std::as_const(delivered), &restored}) {
        for (int64_t from = 0; from < 210; ++from) {
          int64_t missing = from;
          while (reference.contains(missing)) ++missing;
          ASSERT_EQ(d->FirstMissing(from), missing) << "seed " << seed << " from " << from;
          const auto found = reference.lower_bound(from);
          ASSERT_EQ(d->FirstDelivered(from),
                    found == reference.end() ? std::numeric_limits<int64_t>::max() : *found);
        }
        ASSERT_EQ(d->frontier(), d->FirstMissing(0));
      }
    }
    EXPECT_FALSE(delivered.has_beyond());
  }
}

TEST(Delivered, SavesPositionsCountedFromAnOrigin) {
  Delivered delivered(10);
  delivered.Add(12, 14);
  delivered.Add(20, 21);
  Json state;
  delivered.SaveBeyond(4, state);
  EXPECT_EQ(state["beyond"].dump(), "[[8,10],[16,17]]");
}

TEST(Delivered, RefusesDamagedRanges) {
  for (const char* beyond : {"7", "[7]", "[[1]]", "[[8,8]]", "[[9,8]]", "[[3,9]]", "[[5,9]]",
                             "[[7,9],[9,12]]", "[[7,9],[6,12]]", "[[\"a\",9]]", "[[7.5,9]]"}) {
    const Json state{{"beyond", Json::parse(beyond)}};
    EXPECT_THAT(Delivered::Restore(5, state), FailsWith(StatusCode::kDataLoss, "'beyond'"))
        << beyond;
  }
}

}  // namespace stoker::delivered_test
