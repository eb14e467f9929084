// When ignore_errors ends the pass, what it counts, logs and says.
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "stoker/data/ops/window.h"
#include "stoker/data/testing/bad_elements.h"

namespace stoker::ignore_errors_limits_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(IgnoreErrors, LimitsEndThePassAtTheSameElementUnderEveryRuntimeAndAfterAResume) {
  const IgnoreErrors skip{.limit = 4, .share = 1};
  const IgnoreErrors replace{.policy = "replace", .limit = 4, .share = 1};
  for (const Result<Dataset>& dataset : LosingPipelines(skip, replace)) {
    SCOPED_TRACE(dataset->ToString());
    const Outcome expected = Finish(*dataset, Runtime::Inline());
    EXPECT_THAT(expected.error, FailsWith(StatusCode::kDataLoss, "5"));
    EXPECT_THAT(expected.error.message(), HasSubstr("only 4 may (limit 4)"));
    EXPECT_THAT(expected.error.message(), HasSubstr("the first: data loss: images.bin: byte"));
    EXPECT_THAT(expected.error.message(), HasSubstr("the last: data loss: images.bin: byte"));
    for (const Runtime& runtime : kRuntimes)
      ASSERT_EQ(Finish(*dataset, runtime).Text(), expected.Text()) << runtime.threads;
    for (size_t at = 0; at <= expected.elements.size(); ++at) {
      const Runtime& runtime = kRuntimes[at % 4];
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime, {.seed = 5}));
      for (size_t i = 0; i < at; ++i) STOKER_ASSERT_OK(iterator->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
      const std::vector<Element> rest(expected.elements.begin() + static_cast<std::ptrdiff_t>(at),
                                      expected.elements.end());
      ASSERT_EQ(Finish(*dataset, kRuntimes[at / 4 % 4], &state).Text(),
                Fingerprint(rest) + expected.error.ToString());
    }
  }
}

TEST(IgnoreErrors, ALimitCountsAloneUnlessAShareIsGivenToo) {
  const auto run = [](const IgnoreErrors& policy) {  // 31 of 310 fail
    return Finish(*(Result<Dataset>(NumberedImages(310)) | FailEveryTenth() | policy),
                  Runtime::Threaded(2))
        .error;
  };
  for (const char* policy : {"skip", "replace"}) {
    STOKER_EXPECT_OK(run({.policy = policy, .limit = 31}));
    EXPECT_THAT(run({.policy = policy, .limit = 30}),
                FailsWith(StatusCode::kDataLoss, "only 30 may (limit 30)"));
    EXPECT_THAT(run({.policy = policy, .limit = 31, .share = 0.05}),
                FailsWith(StatusCode::kDataLoss, "only 16 may (share 0.05)"));
    EXPECT_THAT(run({.policy = policy}), FailsWith(StatusCode::kDataLoss, "(share 0.01)"));
  }
}

TEST(IgnoreErrors, TheShareIsOfTheElementsSeenAndOfAThousandBefore) {
  const auto run = [](const Dataset& source, double share) {
    return Finish(*(Result<Dataset>(source) | FailEveryTenth() | IgnoreErrors{.share = share}),
                  Runtime::Threaded(2));
  };
  STOKER_EXPECT_OK(run(NumberedImages(2000), 0.1).error);
  STOKER_EXPECT_OK(run(StreamedImages(2000), 0.1).error);
  // 50 of 1,000 may: the 51st has label 503.
  const Outcome outcome = run(StreamedImages(2000), 0.05);
  EXPECT_EQ(outcome.elements.size(), 503u - 50u);
  EXPECT_THAT(outcome.error, FailsWith(StatusCode::kDataLoss,
                                       "51 of 504 elements of this epoch have failed, but only 50 "
                                       "may (share 0.05)"));
  EXPECT_THAT(outcome.error.message(), HasSubstr("name a log to see them all"));
  // An epoch of 100 is known to be one: 5 of them may. Of a stream that is known at its end.
  EXPECT_EQ(run(NumberedImages(100), 0.05).elements.size(), 53u - 5u);
  EXPECT_EQ(run(StreamedImages(100), 0.05).elements.size(), 90u);
  EXPECT_THAT(run(StreamedImages(100), 0.05).error,
              FailsWith(StatusCode::kDataLoss, "10 of 100 elements of this epoch have failed"));
  // One always may, where any may.
  STOKER_EXPECT_OK(run(NumberedImages(10), 0.01).error);
  EXPECT_THAT(run(NumberedImages(10), 0).error, FailsWith(StatusCode::kDataLoss, "only 0 may"));
}

TEST(IgnoreErrors, AShareOfAllIsNoLimitForElementsThatAreReadOften) {
  const auto run = [](double share) {
    return Finish(
        *(NumberedImages(40) | FailEveryTenth() |
          IgnoreErrors{.policy = "replace", .share = share} | Window{.size = 20, .shift = 1}),
        Runtime::Threaded(2));
  };
  STOKER_EXPECT_OK(run(1).error);
  EXPECT_EQ(run(1).elements.size(), 40u);
  EXPECT_THAT(run(0.99).error, FailsWith(StatusCode::kDataLoss, "only 40 may (share 0.99)"));
}

TEST(IgnoreErrors, LimitsCountWithinAnEpoch) {
  for (const char* policy : {"skip", "replace"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                NumberedImages(40) | FailEveryTenth() |
                                    IgnoreErrors{.policy = policy, .limit = 4, .share = 1} |
                                    Repeat{.count = 5});
    const Outcome outcome = Finish(dataset, Runtime::Threaded(2));
    STOKER_EXPECT_OK(outcome.error);
    const StageProfile& stage = Stage(outcome.profile, "ignore_errors");
    EXPECT_EQ(stage.skipped + stage.replaced, 20);
  }
}

TEST(IgnoreErrors, LogsEveryElementOnceInTheOrderOfThePassUnderEveryRuntime) {
  const TempDir dir;
  const IgnoreErrors skip{.share = 1, .log = dir / "bad.jsonl"};
  const IgnoreErrors replace{.policy = "replace", .share = 1, .log = dir / "bad.jsonl"};
  for (const Result<Dataset>& dataset : LosingPipelines(skip, replace)) {
    std::vector<std::string> expected;
    for (const Runtime& runtime : kRuntimes) {
      std::filesystem::remove(dir / "bad.jsonl");
      STOKER_ASSERT_OK(Finish(*dataset, runtime).error);
      const std::vector<std::string> lines = LinesOf(dir / "bad.jsonl");
      if (expected.empty()) expected = lines;
      ASSERT_EQ(lines, expected) << dataset->ToString();
    }
    EXPECT_GE(expected.size(), 10u);
    EXPECT_EQ(std::set<std::string>(expected.begin(), expected.end()).size(), expected.size());
  }
  // The last pipeline lost them in the order of the source.
  Json second = Json::parse(LinesOf(dir / "bad.jsonl")[1]);
  EXPECT_EQ(second["pass"].get<std::string>().size(), 16u);
  second.erase("pass");
  EXPECT_EQ(second, Json::parse(R"({"epoch": 0, "index": 13, "stage": "map", "action": "replaced",
                            "file": "images.bin", "offset": 208,
                            "reason": "data loss: images.bin: byte 208: element 13 is bad"})"));
}

// Reads `count` elements, or all.
std::unique_ptr<Iterator> ReadSome(const Dataset& dataset, const Runtime& runtime, int64_t count,
                                   const Json* from = nullptr) {
  std::unique_ptr<Iterator> pass = *dataset.Open(runtime, {.seed = 5});
  if (from != nullptr) {
    EXPECT_THAT(pass->Restore(*from), IsOk());
  }
  for (int64_t i = 0; i < count; ++i) {
    const Result<std::optional<Element>> element = pass->Next();
    EXPECT_THAT(element, IsOk());
    if (!*element) break;
  }
  return pass;
}

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

TEST(IgnoreErrors, TheLogIsAFunctionOfWhatWasHandedOutHoweverFarThreadsAreAhead) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl";
  for (const Result<Dataset>& dataset :
       LosingPipelines({.share = 1, .log = log}, {.policy = "replace", .share = 1, .log = log})) {
    SCOPED_TRACE(dataset->ToString());
    for (int64_t count = 0; count < 20; ++count) {
      std::vector<std::string> expected;
      for (const Runtime& runtime : kRuntimes) {
        std::filesystem::remove(log);
        ReadSome(*dataset, runtime, count);
        const std::vector<std::string> lines = LinesOf(log);
        if (runtime.kind == Runtime::Kind::kInline) expected = lines;
        ASSERT_EQ(lines, expected) << count << " handed out, " << runtime.threads << " threads";
      }
    }
  }
}

TEST(IgnoreErrors, APassThatIsResumedCutsTheLogBackToWhereItGoesOnFrom) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl";
  for (const Result<Dataset>& dataset :
       LosingPipelines({.share = 1, .log = log}, {.policy = "replace", .share = 1, .log = log})) {
    SCOPED_TRACE(dataset->ToString());
    std::filesystem::remove(log);
    ReadSome(*dataset, Runtime::Inline(), kAll);
    const std::vector<std::string> whole = LinesOf(log);
    for (int64_t at = 0; at < 30; ++at) {
      std::filesystem::remove(log);
      const Runtime& first = kRuntimes[at % 4];
      const Runtime& second = kRuntimes[at / 4 % 4];
      std::unique_ptr<Iterator> pass = ReadSome(*dataset, first, at);
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, pass->Save());
      const std::vector<std::string> then = LinesOf(log);
      for (int i = 0; i < 10; ++i) STOKER_ASSERT_OK(pass->Next());
      pass.reset();  // killed: what came after the position is in the log, and lost
      pass = ReadSome(*dataset, second, 0, &state);
      ASSERT_EQ(LinesOf(log), then) << at;
      while (true) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, pass->Next());
        if (!element) break;
      }
      ASSERT_EQ(LinesOf(log), whole) << at;
    }
  }
}

TEST(IgnoreErrors, AResumedPassLeavesWhatOthersLogged) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl";
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(95) | FailEveryTenth() |
                                                         IgnoreErrors{.share = 1, .log = log});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset other, NumberedImages(45) | FailEveryTenth() |
                                                       IgnoreErrors{.share = 1, .log = log});
  std::unique_ptr<Iterator> pass = ReadSome(dataset, Runtime::Threaded(2), 20);
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, pass->Save());
  ReadSome(other, Runtime::Threaded(2), kAll);
  for (int i = 0; i < 10; ++i) STOKER_ASSERT_OK(pass->Next());
  pass.reset();
  ReadSome(dataset, Runtime::Threaded(2), kAll, &state);
  std::map<std::string, int64_t> lines_of;
  for (const std::string& line : LinesOf(log)) ++lines_of[Json::parse(line)["pass"]];
  std::vector<int64_t> counts;
  for (const auto& [name, lines] : lines_of) counts.push_back(lines);
  EXPECT_THAT(counts, testing::UnorderedElementsAre(10, 5));  // 3, 13, ... below 95 and below 45
}

// Reads a whole pass, or with `killed_after` that many elements of it.
void Evaluate(const Dataset& dataset, const Runtime& runtime, int64_t killed_after = kAll) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass,
                              dataset.Open(runtime, {.losses = LossLogging::kOnce}));
  for (int64_t i = 0; i < killed_after; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, pass->Next());
    if (!element) return;
  }
}

TEST(IgnoreErrors, PassesThatAreMadeAgainAndAgainLogEachElementOnce) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl";
  for (const Result<Dataset>& dataset :
       LosingPipelines({.share = 1, .log = log}, {.policy = "replace", .share = 1, .log = log})) {
    SCOPED_TRACE(dataset->ToString());
    std::filesystem::remove(log);
    Evaluate(*dataset, Runtime::Inline());
    const std::vector<std::string> once = LinesOf(log);
    ASSERT_FALSE(once.empty());
    for (int64_t killed_after = 0; killed_after < 12; ++killed_after) {
      std::filesystem::remove(log);
      std::ofstream(log) << "of another\n";
      Evaluate(*dataset, kRuntimes[killed_after % 4], killed_after);
      std::ofstream(log, std::ios::app) << "half a line that one who was killed le";
      for (const Runtime& runtime : kRuntimes) Evaluate(*dataset, runtime);
      std::vector<std::string> lines = LinesOf(log);
      std::erase_if(lines, [](const std::string& line) { return !line.starts_with('{'); });
      ASSERT_EQ(lines, once) << killed_after;
    }
  }
}

// As of elements that have no index and fail for the same reason.
TEST(IgnoreErrors, LinesThatAreAlikeAreEachLoggedOnce) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl", line = R"({"pass":"p"})";
  for (int pass = 0; pass < 3; ++pass) {
    LossLogs logs("p", LossLogging::kOnce);
    STOKER_ASSERT_OK(logs.Open(log));
    for (int loss = 0; loss < 3; ++loss) {
      Buffer text = Buffer::Allocate(line.size());
      std::memcpy(text.data(), line.data(), line.size());
      STOKER_ASSERT_OK(logs.Write({log, std::move(text)}));
    }
  }
  EXPECT_EQ(LinesOf(log).size(), 3u);
}

TEST(IgnoreErrors, ATrialLogsNothingAndMakesNoLog) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl";
  for (const Result<Dataset>& dataset :
       LosingPipelines({.share = 1, .log = log}, {.policy = "replace", .share = 1, .log = log})) {
    for (const Runtime& runtime : kRuntimes) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto pass,
                                  dataset->Open(runtime, {.losses = LossLogging::kNone}));
      STOKER_ASSERT_OK(ReadAll(*pass));
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, pass->Save());
      EXPECT_FALSE(state.contains("logs"));
    }
    EXPECT_FALSE(std::filesystem::exists(log));
  }
}

TEST(IgnoreErrors, APositionFromBeforeLogsWereInItIsTaken) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      NumberedImages(95) | FailEveryTenth() | IgnoreErrors{.share = 1, .log = dir / "bad.jsonl"});
  const std::unique_ptr<Iterator> pass = ReadSome(dataset, Runtime::Inline(), 20);
  STOKER_ASSERT_OK_AND_ASSIGN(Json state, pass->Save());
  ASSERT_TRUE(state.contains("logs"));
  state.erase("logs");
  ReadSome(dataset, Runtime::Inline(), kAll, &state);
  EXPECT_EQ(LinesOf(dir / "bad.jsonl").size(), 10u);
}

TEST(IgnoreErrors, SaysAtTheEndOfAnEpochWhatItHasCostAndNotTheSameTwice) {
  const TempDir dir;
  for (const char* policy : {"skip", "replace"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        NumberedImages(40) | FailEveryTenth() |
            IgnoreErrors{.policy = policy, .share = 1, .log = dir / "bad.jsonl"} |
            Repeat{.count = 3});
    testing::internal::CaptureStderr();
    STOKER_ASSERT_OK(Finish(dataset, Runtime::Threaded(2)).error);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_THAT(said, HasSubstr("elements failed and were " + std::string(policy)));
    EXPECT_THAT(said, HasSubstr("the first: data loss: images.bin: byte 48: element 3 is bad"));
    EXPECT_THAT(said, HasSubstr("all are in " + dir / "bad.jsonl"));
  }
}

TEST(IgnoreErrors, DoesNotSayThatAllAreInALogThatThePassDoesNotWrite) {
  const TempDir dir;
  const std::string log = dir / "bad.jsonl";
  for (const char* policy : {"skip", "replace"}) {
    for (const double share : {1.0, 0.01}) {  // a warning at the end, an error
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  NumberedImages(300) | FailEveryTenth() |
                                      IgnoreErrors{.policy = policy, .share = share, .log = log});
      testing::internal::CaptureStderr();
      Status read;
      {
        STOKER_ASSERT_OK_AND_ASSIGN(
            const auto pass, dataset.Open(Runtime::Threaded(2), {.losses = LossLogging::kNone}));
        read = ReadAll(*pass).status();
      }
      EXPECT_EQ(read.ok(), share == 1.0);
      EXPECT_THAT(testing::internal::GetCapturedStderr() + read.message(),
                  HasSubstr("this pass does not write them to " + log));
    }
  }
}

TEST(IgnoreErrors, SavesAReasonThatIsNoUtf8AndOneThatIsCutWithinACharacter) {
  for (const std::string& reason :
       {std::string("\xff.jpg: is bad"), std::string(299, 'x') + "\u00e9"}) {
    const Map fails{.function = [&](Element&, Rng&, Scratch&) { return DataLoss("{}", reason); }};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                NumberedImages(4) | fails | IgnoreErrors{.share = 1});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK(iterator->Next());
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
    EXPECT_NO_THROW(static_cast<void>(state.dump()));
  }
}

TEST(IgnoreErrors, SummariesNameTheEpochThatWasRestored) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(40) | FailEveryTenth() | IgnoreErrors{.share = 1});
  STOKER_ASSERT_OK_AND_ASSIGN(auto saved, dataset.Open(Runtime::Inline(), {.epoch = 5}));
  STOKER_ASSERT_OK(saved->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  testing::internal::CaptureStderr();
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK(resumed->Restore(state));
    STOKER_ASSERT_OK(ReadAll(*resumed));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("epoch 5: "));
}

TEST(IgnoreErrors, ALogThatCannotBeWrittenIsAnErrorAtOnce) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(9) | IgnoreErrors{.log = "/no/such/folder/bad.jsonl"});
  EXPECT_THAT(dataset.Open(Runtime::Inline()),
              FailsWith(StatusCode::kNotFound, "/no/such/folder/bad.jsonl"));
}

TEST(IgnoreErrors, RefusesDamagedCounts) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset skips, NumberedImages(40) | IgnoreErrors{});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset replaces,
                              NumberedImages(40) | IgnoreErrors{.policy = "replace"});
  const std::pair<const Dataset*, Json> kBroken[] = {
      {&skips, {{"seed", 0}, {"seen", 1}, {"first", ""}}},
      {&skips, {{"seed", 0}, {"seen", 1}, {"failed", 1}}},
      {&replaces, {{"seed", 0}, {"epoch", 0}, {"position", 1}, {"failed", 7}}},
      {&replaces, {{"seed", 0}, {"epoch", 0}, {"position", 1}, {"failed", {{{"stage", 1}}}}}},
  };
  for (const auto& [dataset, state] : kBroken) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(Runtime::Threaded(2)));
    EXPECT_EQ(iterator->Restore(state).code(), StatusCode::kDataLoss) << state;
  }
}

}  // namespace stoker::ignore_errors_limits_test
