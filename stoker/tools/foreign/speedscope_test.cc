// The recording is a shortened one of py-spy 0.4.3.
#include <fstream>

#include "stoker/base/testing.h"
#include "stoker/tools/foreign/stack_recorder.h"

namespace stoker::speedscope_test {

using testing::ElementsAre;

constexpr const char* kRecording = R"({"$schema":"x","profiles":[
 {"type":"sampled","name":"Process 3880 Thread 3880 \"MainThread\"","unit":"seconds","startValue":0.0,
  "endValue":0.06,"samples":[[3,2,1],[3,2,1],[3,2,1,0]],"weights":[0.02,0.02,0.02]},
 {"type":"sampled","name":"Process 3880 Thread 3922 \"Thread-1 (work)\"","unit":"seconds",
  "startValue":0.0,"endValue":0.02,"samples":[[]],"weights":[0.02]}],
 "shared":{"frames":[
  {"name":"backward","file":"/venv/lib/python3.11/site-packages/torch/_tensor.py","line":5,"col":null},
  {"name":"<module>","file":"/home/me/train.py","line":2,"col":null},
  {"name":"thread (3880): MainThread","file":"","line":0,"col":null},
  {"name":"process 3880:\"python3 train.py\"","file":"","line":0,"col":null}]},
 "activeProfileIndex":null,"exporter":"py-spy@0.4.3","name":"py-spy profile"})";

TEST(ParseSpeedscope, ReadsARecordingOfPySpy) {
  const Result<PythonStacks> stacks = ParseSpeedscope(kRecording, "/home/me");
  ASSERT_TRUE(stacks.ok()) << stacks.status().message();
  ASSERT_EQ(stacks->threads.size(), 2u);
  EXPECT_EQ(stacks->threads[0].pid, 3880);
  EXPECT_EQ(stacks->threads[0].id, 3880);
  EXPECT_EQ(stacks->threads[1].id, 3922);
  EXPECT_THAT(stacks->threads[0].samples, ElementsAre(0, 0, 1));
  const std::vector<StackFrame>& stack = stacks->stacks[1];
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0].Place(), "train.py:2");
  EXPECT_TRUE(stack[0].own);
  EXPECT_FALSE(stack[1].own);
  EXPECT_EQ(stack[1].function, "backward");
}

TEST(ParseSpeedscope, RefusesEveryProperPrefixAndOtherForms) {
  const std::string text = kRecording;
  for (size_t n = 0; n < text.size(); ++n)
    EXPECT_FALSE(ParseSpeedscope(text.substr(0, n), "/").ok());
  for (const char* other : {"{}", "[]", "1", R"({"shared":{"frames":[1]},"profiles":[]})",
                            R"({"shared":{"frames":[]},"profiles":[1]})",
                            R"({"shared":{"frames":[]},"profiles":[{"samples":[[0]]}]})",
                            R"({"shared":{"frames":[]},"profiles":[{"samples":[1]}]})",
                            R"({"shared":1,"profiles":[]})"}) {
    EXPECT_FALSE(ParseSpeedscope(other, "/").ok()) << other;
  }
}

TEST(AddSourceLines, ReadsThoseOfOwnFrames) {
  const TempDir folder;
  std::ofstream(folder.path() / "train.py") << "import torch\n    loss.backward()\n";
  PythonStacks stacks = *ParseSpeedscope(kRecording, "/home/me");
  AddSourceLines(folder.path(), stacks);
  EXPECT_EQ(stacks.stacks[0][0].text, "loss.backward()");
  EXPECT_EQ(stacks.stacks[1][1].text, "");
}

TEST(FindLoaderIn, ReadsNumbersAndNamesThatAreSetToNumbers) {
  const LoaderFacts facts = FindLoaderIn(
      "import torch\nBATCH = 2\n\nloader = torch.utils.data.DataLoader(\n    Data(3), "
      "batch_size=BATCH,\n    num_workers = 0)\n",
      "train.py");
  EXPECT_EQ(facts.place, "train.py:4");
  EXPECT_EQ(facts.batch_size, 2);
  EXPECT_EQ(facts.num_workers, 0);
}

TEST(FindLoaderIn, FindsTheMapOfTfDataThatIsNotParallel) {
  EXPECT_EQ(FindLoaderIn("d = tf.data.Dataset.range(9)\nd = d.map(f, num_parallel_calls=2)\n"
                         "d = (d.shuffle(9)\n  .map(g).batch(2))\n",
                         "t.py")
                .serial_map,
            "t.py:4");
  EXPECT_EQ(
      FindLoaderIn("tf.data.Dataset.range(9).map(f, num_parallel_calls=2)", "t.py").serial_map, "");
  EXPECT_EQ(FindLoaderIn("pool.map(f, range(9))\n", "t.py").serial_map, "");
}

TEST(DisownInstalledPackages, OwnFilesStayOwnAndPackagesAnywhereAreNone) {
  const TempDir folder;
  std::filesystem::create_directories(folder.path() / "libs/sympy-1.0.dist-info");
  std::filesystem::create_directories(folder.path() / "libs/sympy/core");
  std::filesystem::create_directories(folder.path() / "work");
  const auto frame = [&](const char* file) {
    return StackFrame{.file = file[0] == '/' ? folder.path().string() + file : file, .own = true};
  };
  PythonStacks stacks;
  stacks.stacks = {{frame("train.py"), frame("/work/data.py"), frame("/libs/sympy/core/x.py")}};
  DisownInstalledPackages(stacks);
  EXPECT_TRUE(stacks.stacks[0][0].own);
  EXPECT_TRUE(stacks.stacks[0][1].own);
  EXPECT_FALSE(stacks.stacks[0][2].own);
}

TEST(FindLoaderIn, SaysNothingOfWhatIsNoNumber) {
  const LoaderFacts facts =
      FindLoaderIn("x = DataLoader(data, batch_size=args.batch, shuffle=True)\n", "t.py");
  EXPECT_EQ(facts.place, "t.py:1");
  EXPECT_FALSE(facts.batch_size);
  EXPECT_FALSE(facts.num_workers);
  EXPECT_EQ(FindLoaderIn("import torch\n", "t.py").place, "");
  EXPECT_EQ(FindLoaderIn("DataLoader(", "t.py").place, "t.py:1");
}

}  // namespace stoker::speedscope_test
