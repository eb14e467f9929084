#include "stoker/cluster/agreement.h"

#include <ATen/Functions.h>

#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"

namespace stoker::agreement_test {

TEST(Agree, IsSuccessWhereAllSucceed) {
  AsRanks(3, [](Group& group) { STOKER_EXPECT_OK(Agree(group, OkStatus(), "the start")); });
}

TEST(Agree, AnErrorOfOneIsAnErrorOfAllWhichNamesIt) {
  AsRanks(3, [](Group& group) {
    const bool fails = group.membership().rank == 1;
    const Status agreed =
        Agree(group, fails ? DataLoss("photo.jpg is damaged") : OkStatus(), "a step");
    EXPECT_EQ(agreed.code(), StatusCode::kDataLoss);
    EXPECT_EQ(agreed.message(),
              fails ? "photo.jpg is damaged" : "rank 1 failed: photo.jpg is damaged");
  });
}

TEST(Agree, OneErrorOfAllIsToldByTheFirstAndOthersKeepTheirOwn) {
  AsRanks(3, [](Group& group) {
    const int64_t rank = group.membership().rank;
    const Status agreed =
        Agree(group, NotFound("{}", rank < 2 ? "no recipe" : "no data"), "the start");
    const char* const says[] = {"no recipe", "rank 0 failed: no recipe", "no data"};
    EXPECT_EQ(agreed.message(), says[rank]);
  });
}

TEST(Agree, AnErrorComesBeforeAStop) {
  AsRanks(3, [](Group& group) {
    const int64_t rank = group.membership().rank;
    const Status mine = rank == 2 ? Internal("broken") : Cancelled("asked to stop");
    EXPECT_EQ(Agree(group, mine, "a step").code(), StatusCode::kInternal);
    const Status stopped = rank == 1 ? Cancelled("asked to stop") : OkStatus();
    EXPECT_EQ(Agree(group, stopped, "a step").code(), StatusCode::kCancelled);
  });
}

TEST(TextOfFirst, IsTheSameOnAllRanks) {
  AsRanks(3, [](Group& group) {
    const int64_t rank = group.membership().rank;
    for (const std::string& text : {std::string("of rank 0"), std::string()}) {
      STOKER_ASSERT_OK_AND_ASSIGN(
          const std::string got,
          TextOfFirst(group, rank == 0 ? text : std::string(rank * 7, 'x'), "a text"));
      EXPECT_EQ(got, text);
    }
  });
}

TEST(GreatestOf, IsTheSameOnAllRanks) {
  AsRanks(3, [](Group& group) {
    const int64_t numbers[] = {2, 15, 0};
    STOKER_ASSERT_OK_AND_ASSIGN(const int64_t greatest,
                                GreatestOf(group, numbers[group.membership().rank], "a number"));
    EXPECT_EQ(greatest, 15);
  });
}

TEST(CopyFromRank, CopiesAllTypesAndLayouts) {
  AsRanks(2, [](Group& group) {
    const auto first = static_cast<double>(group.membership().rank == 1);
    const at::Tensor wanted = at::arange(24, at::kFloat).view({1, 2, 3, 4});
    const at::Tensor tensors[] = {(wanted * first).contiguous(at::MemoryFormat::ChannelsLast),
                                  at::full({}, first, at::kDouble),
                                  at::full({3}, first, at::kLong),
                                  at::full({2}, first != 0, at::kBool),
                                  at::empty({0}),
                                  (wanted * first).select(1, 1)};
    STOKER_ASSERT_OK(CopyFromRank(group, 1, tensors, "the weights"));
    EXPECT_TRUE(at::equal(tensors[0], wanted));
    EXPECT_EQ(tensors[1].item<double>(), 1);
    EXPECT_EQ(tensors[2].sum().item<int64_t>(), 3);
    EXPECT_TRUE(tensors[3].all().item<bool>());
    EXPECT_TRUE(at::equal(tensors[5], wanted.select(1, 1)));
  });
}

}  // namespace stoker::agreement_test
