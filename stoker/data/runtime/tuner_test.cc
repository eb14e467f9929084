#include "stoker/data/runtime/tuner.h"

#include "stoker/base/testing.h"

namespace stoker::tuner_test {

constexpr int64_t kMs = 1'000'000;

TunerLimits Limits() { return {.max_threads = 64, .cpus = 2, .max_chunk = 4096}; }

// A step of a pipeline whose threads work all the time, and whose consumer always waits.
TunerInterval Starved(const Tuner& tuner, double cpu_share, int64_t elements) {
  return {.seconds = 0.1,
          .waited_s = 0.09,
          .worked_s = 0.1 * tuner.threads(),
          .cpu_share = cpu_share,
          .elements = elements};
}

TEST(Tuner, MakesChunksOfManyTinyElementsAndOfOneSlow) {
  const struct {
    int64_t element_ns, chunk;
  } cases[] = {{20, 4096}, {3000, 200}, {100'000, 6}, {5 * kMs, 1}, {20 * kMs, 1}};
  for (const auto& [element_ns, chunk] : cases) {
    Tuner tuner(Limits());
    EXPECT_EQ(tuner.chunk(), 1);
    for (int i = 0; i < 200; ++i) {
      tuner.AddChunk(tuner.chunk(), 64 * tuner.chunk(), element_ns * tuner.chunk());
    }
    EXPECT_NEAR(static_cast<double>(tuner.chunk()), static_cast<double>(chunk), 1) << element_ns;
  }
}

TEST(Tuner, LimitsAChunksBytesAndKeepsWhatWasAskedFor) {
  Tuner large(Limits());
  for (int i = 0; i < 200; ++i) large.AddChunk(large.chunk(), 16384 * large.chunk(), large.chunk());
  EXPECT_EQ(large.chunk(), 16);  // 256 KiB
  Tuner batches(Limits());
  for (int i = 0; i < 200; ++i)
    batches.AddChunk(batches.chunk(), (128 << 10) * batches.chunk(), batches.chunk());
  EXPECT_EQ(batches.chunk(), 16);  // 2 MiB

  TunerLimits limits = Limits();
  limits.chunk = 7;
  Tuner fixed(limits);
  for (int i = 0; i < 200; ++i) fixed.AddChunk(7, 7, 7);
  EXPECT_EQ(fixed.chunk(), 7);

  limits = Limits();
  limits.depth = 10;
  Tuner shallow(limits);
  for (int i = 0; i < 200; ++i) shallow.AddChunk(shallow.chunk(), 1, 1);
  EXPECT_EQ(shallow.chunk(), 10);
  EXPECT_EQ(shallow.depth(), 1 + shallow.threads());
}

TEST(Tuner, KeepsAChunksSizeWhileItsCostOnlyWavers) {
  Tuner tuner(Limits());
  for (int i = 0; i < 50; ++i) tuner.AddChunk(tuner.chunk(), tuner.chunk(), 1000 * tuner.chunk());
  const int64_t settled = tuner.chunk();
  for (int i = 0; i < 200; ++i) {
    tuner.AddChunk(settled, settled, (i % 2 == 0 ? 700 : 1300) * settled);
    EXPECT_EQ(tuner.chunk(), settled);
  }
  for (int i = 0; i < 200; ++i) tuner.AddChunk(tuner.chunk(), tuner.chunk(), 2000 * tuner.chunk());
  EXPECT_LE(tuner.chunk(), settled / 2 * 1.3);
}

TEST(Tuner, HasAsManyThreadsAsCpusWhereElementsCompute) {
  Tuner tuner(Limits());
  EXPECT_EQ(tuner.threads(), 2);
  for (int i = 0; i < 50; ++i) tuner.Step(Starved(tuner, 0.99, 100));
  EXPECT_EQ(tuner.threads(), 2);
}

TEST(Tuner, DoublesThreadsThatSleepWhileThatHelps) {
  Tuner tuner(Limits());
  std::vector<int> threads;
  for (int i = 0; i < 7; ++i) {
    tuner.Step(Starved(tuner, 0.01, 10 * tuner.threads()));
    threads.push_back(tuner.threads());
  }
  EXPECT_THAT(threads, testing::ElementsAre(4, 8, 16, 32, 64, 64, 64));
}

// As where a training step computes on the other CPUs.
TEST(Tuner, BeyondTheCpusItMayKeepBusyAddsOnlyThreadsThatSleep) {
  const TunerLimits one_of_many{.max_threads = 64, .cpus = 1, .max_chunk = 4096};
  Tuner computing(one_of_many), sleeping(one_of_many);
  EXPECT_EQ(computing.threads(), 1);
  for (int i = 0; i < 50; ++i) {
    computing.Step(Starved(computing, 0.95, 10 * computing.threads()));
    sleeping.Step(Starved(sleeping, 0.01, 10 * sleeping.threads()));
    EXPECT_EQ(computing.threads(), 1);
  }
  EXPECT_EQ(sleeping.threads(), 64);
}

TEST(Tuner, TakesBackThreadsThatDoNotHelpAndTriesEverMoreSeldom) {
  Tuner tuner(Limits());
  std::vector<int> steps_with_more;
  for (int i = 0; i < 100; ++i) {
    tuner.Step(Starved(tuner, 0.1, 100));  // a disk that gives no more
    if (tuner.threads() > 2) steps_with_more.push_back(i);
  }
  EXPECT_THAT(steps_with_more, testing::ElementsAre(0, 9, 26, 59));
}

TEST(Tuner, GivesBackThreadsThatHaveNothingToDo) {
  Tuner tuner({.max_threads = 64, .cpus = 16, .max_chunk = 1});
  std::string why;
  for (int i = 0; i < 30; ++i) {
    for (const Decision& decision :
         tuner.Step({.seconds = 0.1, .waited_s = 0, .worked_s = 0.15, .elements = 10})) {
      EXPECT_LT(decision.to, decision.from);
      why = decision.why;
    }
  }
  EXPECT_EQ(tuner.threads(), 2);  // 1.5 work
  EXPECT_EQ(why, "only 1.50 worked, the consumer waited 0%");
}

TEST(Tuner, NeverChangesThreadsThatTheUserHasSet) {
  TunerLimits limits = Limits();
  limits.threads = 5;
  Tuner tuner(limits);
  for (int i = 0; i < 30; ++i) {
    tuner.Step(Starved(tuner, 0.01, 100));
    tuner.Step({.seconds = 0.1, .worked_s = 0.01, .elements = 1});
  }
  EXPECT_EQ(tuner.threads(), 5);
  EXPECT_FALSE(tuner.may_shrink());
}

TEST(Tuner, ReadsFartherAheadWhereASlowElementHoldsUpTheOthersAndLessWhenItIsCalm) {
  Tuner tuner(Limits());
  const auto chunks = [&] {
    for (int i = 0; i < 200; ++i) tuner.AddChunk(1, 64, i % 50 == 49 ? 20 * kMs : kMs);
  };
  constexpr int kBaseDepth = 2 + 10;  // being made, and 10 ms of work
  const TunerInterval held_up{.seconds = 0.1, .waited_s = 0.03, .worked_s = 0.13, .elements = 90};
  chunks();
  EXPECT_EQ(tuner.depth(), kBaseDepth);
  tuner.Step(held_up);
  EXPECT_GE(tuner.depth(), 5 + 15);
  EXPECT_LE(tuner.depth(), 5 + 30);
  for (int i = 0; i < 200; ++i) {
    chunks();
    tuner.Step({.seconds = 0.1, .waited_s = 0, .worked_s = 0.18, .elements = 90});
  }
  EXPECT_EQ(tuner.depth(), kBaseDepth);
}

TEST(Tuner, KeepsTenMillisecondsOfWorkReadyWhereItTakesFewBytes) {
  const struct {
    int64_t ns, bytes, depth;
  } cases[] = {{kMs, 64, 2 + 10},      // and those that are being made
               {kMs, 1 << 19, 2 + 8},  // 4 MiB at most
               {20 * kMs, 64, 5},      // two for each thread are more
               {kMs, 64 << 20, 3}};    // and these are large
  for (const auto& [ns, bytes, depth] : cases) {
    Tuner tuner(Limits());
    EXPECT_EQ(tuner.depth(), 5);
    for (int i = 0; i < 200; ++i) tuner.AddChunk(1, bytes, ns);
    EXPECT_EQ(tuner.depth(), depth) << ns << " ns, " << bytes << " bytes";
  }
}

TEST(Tuner, KeepsFewLargeChunksReady) {
  const struct {
    int64_t bytes, depth;
  } cases[] = {{1 << 20, 5}, {30 << 20, 2 + 2}, {60 << 20, 2 + 1}, {200 << 20, 2}};
  for (const auto& [bytes, depth] : cases) {
    Tuner tuner(Limits());
    for (int i = 0; i < 200; ++i) tuner.AddChunk(1, bytes, 50 * kMs);
    EXPECT_EQ(tuner.depth(), depth) << bytes << " bytes";
  }
}

TEST(Tuner, KeepsAsManyOfTheChunksThatAreMadeTogetherWhateverTheThreads) {
  const TunerInterval idle{.seconds = 0.1, .waited_s = 0.05, .worked_s = 0.01, .elements = 9};
  for (const int threads : {2, 16}) {
    TunerLimits limits = Limits();
    limits.threads = threads;
    Tuner tuner(limits);
    tuner.SetChunksAreMadeTogether(true);
    for (int i = 0; i < 200; ++i) tuner.AddChunk(1, 40 << 20, (i % 20 + 1) * kMs);
    EXPECT_EQ(tuner.depth(), 2) << threads;  // one being made, one ready
    const std::vector<Decision> decisions = tuner.Step(idle);
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_EQ(decisions[0].what, "depth");
    EXPECT_EQ(decisions[0].from, 2 * threads + 1);
    EXPECT_EQ(decisions[0].to, 2);
    EXPECT_EQ(tuner.depth(), 2) << threads;  // none is held up by another
  }
  TunerLimits limits = Limits();
  limits.depth = 3;
  Tuner asked_for(limits);
  asked_for.SetChunksAreMadeTogether(true);
  EXPECT_EQ(asked_for.depth(), 3 + 1);
}

TEST(Tuner, TakesBackWhatItTriesWhereChunksBeginToBeMadeInAnotherWay) {
  const TunerInterval waiting{
      .seconds = 0.1, .waited_s = 0.05, .worked_s = 0.2, .cpu_share = 0.1, .elements = 9};
  for (const bool together : {false, true}) {
    Tuner tuner(Limits());
    tuner.SetChunksAreMadeTogether(!together);
    for (int i = 0; i < 20; ++i) tuner.AddChunk(1, 64, kMs);
    const int before = tuner.threads();
    tuner.Step(waiting);
    ASSERT_GT(tuner.threads(), before);
    const std::vector<Decision> decisions = tuner.SetChunksAreMadeTogether(together);
    EXPECT_EQ(tuner.threads(), before);
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_EQ(decisions[0].to, before);
    EXPECT_TRUE(tuner.SetChunksAreMadeTogether(together).empty());
    tuner.Step(waiting);
    EXPECT_GT(tuner.threads(), before);  // tried again at once
  }
}

TEST(Tuner, SaysWhenItKeepsMoreWorkReady) {
  Tuner tuner(Limits());
  for (int i = 0; i < 200; ++i) tuner.AddChunk(1, 64, kMs);
  std::vector<std::string> depths;
  for (int i = 0; i < 3; ++i) {
    for (const Decision& decision : tuner.Step({.seconds = 0.1, .worked_s = 0.2, .elements = 9})) {
      if (decision.what == "depth")
        depths.push_back(fmt::format("{} to {}", decision.from, decision.to));
    }
  }
  EXPECT_THAT(depths, testing::ElementsAre("5 to 12"));
}

}  // namespace stoker::tuner_test
