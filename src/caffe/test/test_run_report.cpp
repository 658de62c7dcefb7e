#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "caffe/test/test_caffe_main.hpp"
#include "report/axis.hpp"
#include "report/charts.hpp"
#include "report/json.hpp"
#include "report/memory_timeline.hpp"
#include "report/report_page.hpp"
#include "report/run_history.hpp"
#include "report/svg.hpp"
#include "report/tensorboard.hpp"

// The log of a run, what is read from it, and its drawings.

namespace caffe {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kStart =
    R"({"event":"run","iteration":0,"version":1,"net":"n","max_iter":9})"
    "\n";

string Display(int iteration, double loss) {
  return JsonObject()
             .Add("event", "display")
             .Add("iteration", iteration)
             .Add("loss", loss)
             .Add("smoothed_loss", loss)
             .text() +
         "\n";
}

RunHistory Read(const string& log) {
  std::istringstream stream(log);
  return ReadRunLog(stream, "log");
}

string ErrorOf(const string& log) {
  try {
    Read(log);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(JsonTest, WritesAndReadsBack) {
  const string text = JsonObject()
                          .Add("text", "a \"b\" \\ \n\t\x01 \u00e9")
                          .Add("bad", "\xff\xc3")
                          .Add("half", 0.5)
                          .Add("float", double{0.1F})
                          .Add("nan", NAN)
                          .Add("low", -INFINITY)
                          .Add("yes", true)
                          .Add("list", JsonArray(vector<int>{1, -2}))
                          .text();
  EXPECT_EQ(
      "{\"text\":\"a \\\"b\\\" \\\\ \\n\\t\\u0001 \u00e9\",\"bad\":\"\?\?\","
      "\"half\":0.5,\"float\":0.1,\"nan\":\"NaN\",\"low\":\"-Infinity\","
      "\"yes\":true,\"list\":[1,-2]}",
      text);
  const auto value = JsonValue::Parse(text);
  ASSERT_TRUE(value);
  EXPECT_EQ("a \"b\" \\ \n\t\x01 \u00e9", (*value)["text"].Text());
  EXPECT_EQ(0.5, (*value)["half"].Number(0));
  EXPECT_TRUE(std::isnan((*value)["nan"].Number(0)));
  EXPECT_EQ(-INFINITY, (*value)["low"].Number(0));
  EXPECT_TRUE((*value)["yes"].Bool());
  EXPECT_EQ(-2, (*value)["list"].items().at(1).Number(0));
  EXPECT_EQ(7, (*value)["missing"].Number(7));
  EXPECT_EQ("\u20ac\U0001F600",
            JsonValue::Parse(R"("\u20ac\ud83d\ude00")")->Text());
}

TEST(JsonTest, RefusesWhatIsNone) {
  for (const char* const text :
       {"", "{", "[1,]", "{\"a\"}", "{\"a\":}", "nan", "-", "\"a", "\"\\x\"",
        "\"\\ud800\"", "1 2", "tru", "{\"a\":1}}"}) {
    EXPECT_FALSE(JsonValue::Parse(text)) << text;
  }
  EXPECT_FALSE(JsonValue::Parse(string(100000, '[')));
}

TEST(TensorBoardTest, HasTheChecksumsOfTheStandard) {
  // RFC 3720, B.4.
  EXPECT_EQ(0xE3069283U, Crc32c("123456789"));
  EXPECT_EQ(0x8A9136AAU, Crc32c(string(32, '\0')));
  EXPECT_EQ(0x62A8AB43U, Crc32c(string(32, '\xff')));
  const string record = TensorBoardRecord("abc");
  ASSERT_EQ(8 + 4 + 3 + 4, record.size());
  EXPECT_EQ(string("\3\0\0\0\0\0\0\0", 8), record.substr(0, 8));
  EXPECT_EQ("abc", record.substr(12, 3));
}

TEST(RunHistoryTest, AResumeReplacesWhatCameAfterIt) {
  const RunHistory run =
      Read(string(kStart) + Display(0, 5) + Display(2, 4) + Display(4, 3) +
           R"({"event":"run","iteration":2,"version":1})" + "\n" +
           Display(2, 40) + Display(6, 60));
  ASSERT_EQ(3, run.loss.points.size());
  EXPECT_EQ(5, run.loss.points[0].y);
  EXPECT_EQ(40, run.loss.points[1].y);
  EXPECT_EQ(6, run.loss.points[2].x);
  EXPECT_EQ(6, run.last_iteration);
}

TEST(RunHistoryTest, ALineThatWasCutOffIsSkipped) {
  const string whole = string(kStart) + Display(0, 5) + Display(1, 4);
  for (const size_t cut : {1, 2, 10, 30}) {
    const RunHistory run = Read(whole.substr(0, whole.size() - cut));
    EXPECT_EQ(cut == 1 ? 2 : 1, run.loss.points.size()) << cut;
    EXPECT_EQ(cut == 1 ? 0 : 1, run.bad_lines) << cut;
  }
}

TEST(RunHistoryTest, SaysWhatIsWrongInOneSentence) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("log is empty"));
  EXPECT_THAT(ErrorOf("hello\n"), HasSubstr("is no log of a run"));
  EXPECT_THAT(ErrorOf(Display(0, 1)), HasSubstr("is no log of a run"));
  EXPECT_THAT(ErrorOf(R"({"event":"run","iteration":0,"version":2})"),
              HasSubstr("is of version 2"));
}

TEST(SeriesTest, ThinningKeepsPeaksAndGaps) {
  vector<Point> points;
  for (int i = 0; i < 100000; ++i) points.push_back({double(i), 1});
  points[54321].y = 9;
  points[65432].y = -9;
  points[777].y = NAN;
  const vector<Point> thin = Thinned(points, 1000);
  EXPECT_LE(thin.size(), 1000);
  const auto has = [&](double x) {
    return std::any_of(thin.begin(), thin.end(),
                       [&](const Point& p) { return p.x == x; });
  };
  for (const double x : {0, 777, 54321, 65432, 99999}) EXPECT_TRUE(has(x)) << x;
  EXPECT_TRUE(
      std::is_sorted(thin.begin(), thin.end(),
                     [](const Point& a, const Point& b) { return a.x < b.x; }));
}

TEST(AxisTest, HasRoundTicks) {
  const auto labels = [](const Axis& axis) {
    vector<string> labels;
    for (const Tick& tick : axis.ticks()) labels.push_back(tick.label);
    return labels;
  };
  EXPECT_EQ((vector<string>{"0", "0.5", "1", "1.5", "2", "2.5"}),
            labels(Axis(0.1, 2.3, Scale::kLinear, 6)));
  EXPECT_EQ((vector<string>{"0", "50k", "100k", "150k"}),
            labels(Axis::Exactly(0, 170000, 5)));
  EXPECT_EQ((vector<string>{"0.001", "0.01", "0.1", "1"}),
            labels(Axis(0.002, 0.7, Scale::kLog, 7)));
  for (const double value : {0.0, 5.0, -1e300, 1e300, double(NAN)}) {
    const Axis axis(value, value, Scale::kLinear, 6);
    EXPECT_GE(axis.ticks().size(), 2) << value;
    EXPECT_LE(axis.ticks().size(), 20) << value;
  }
  EXPECT_EQ(0.5, Axis(0, 10, Scale::kLinear, 6).Fraction(5));
  EXPECT_NEAR(0.5, Axis(0.01, 1, Scale::kLog, 6).Fraction(0.1), 1e-12);
}

TEST(SvgTest, EscapesAndShortens) {
  EXPECT_EQ("&lt;a href=&quot;&#39;&amp;&gt; ", Escaped("<a href=\"'&>\x01"));
  EXPECT_EQ("short", Shortened("short", 100));
  const string shortened = Shortened("a_very_long_name_of_a_layer_7", 100);
  EXPECT_THAT(shortened, ::testing::EndsWith("7"));
  EXPECT_LE(TextWidth(shortened), 100);
}

TEST(ReportPageTest, EscapesAllThatTheLogSays) {
  const string bad = "<script>alert(1)</script>";
  string log = string(kStart) + Display(0, 1);
  log.replace(log.find("\"n\""), 3, ToJson(bad));
  for (const char* const event : {"alarm", "snapshot"}) {
    log += JsonObject()
               .Add("event", event)
               .Add("iteration", 1)
               .Add("what", bad)
               .Add("model", bad)
               .text() +
           "\n";
  }
  JsonArray outputs;
  outputs.Add(JsonObject().Add("name", bad).Add("value", 0.5));
  JsonArray inputs;
  inputs.Add(JsonObject()
                 .Add("layer", bad)
                 .Add("tensor", bad)
                 .Add("kept", "packed")
                 .Add("codec", bad)
                 .Add("bound", 0.1)
                 .Add("raw", 100)
                 .Add("stored", 10));
  log += JsonObject()
             .Add("event", "test")
             .Add("iteration", 1)
             .Add("outputs", outputs)
             .text() +
         "\n" +
         JsonObject()
             .Add("event", "compression")
             .Add("iteration", 1)
             .Add("ratio", 10)
             .Add("inputs", inputs)
             .text() +
         "\n";
  const string page = ReportPage(Read(log));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(ReportPageTest, LongRunsMakeSmallPages) {
  string log = kStart;
  for (int i = 0; i < 200000; ++i) log += Display(i, 1 + std::sin(i * 0.001));
  const RunHistory run = Read(log);
  EXPECT_EQ(200000, run.loss.points.size());
  EXPECT_LT(ReportPage(run).size(), 200000);
}

TEST(ReportPageTest, StrangeNumbersDoNoHarm) {
  string log = kStart;
  for (const char* const value : {"NaN", "Infinity", "-Infinity"}) {
    log += Concat(R"({"event":"display","iteration":1,"loss":")", value,
                  R"(","learning_rate":1e308,"outputs":[3,{}]})", "\n");
  }
  log +=
      R"({"event":"display","iteration":-1e300,"loss":-1e308})"
      "\n"
      R"({"event":"memory","iteration":3,"microseconds":1e-300,)"
      R"("kinds":["a"],"samples":[[5,-1],[1,1e300],[2]],"layers":[[1]]})"
      "\n"
      R"({"event":"compression","iteration":4,"inputs":[1,{"kept":"packed"}]})"
      "\n";
  const string page = ReportPage(Read(log));
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_THAT(page, Not(HasSubstr("\"nan")));
}

TEST(MemoryTimelineTest, KeepsPeaksInLittleRoom) {
  const MemoryTimeline unused(4);
  MemoryTimeline timeline(64);
  memory::Sums sums = {};
  for (size_t i = 0; i < 10000; ++i) {
    sums[0] = i == 5000 ? 1 << 30 : i % 7;
    timeline.OnChange(sums);
  }
  const auto samples = timeline.Samples();
  EXPECT_LE(samples.size(), 64);
  EXPECT_GE(samples.size(), 16);
  size_t most = 0;
  double last = 0;
  for (const auto& sample : samples) {
    EXPECT_GE(sample.seconds, last);
    last = sample.seconds;
    most = std::max(most, sample.bytes[0]);
  }
  EXPECT_EQ(1 << 30, most);
}

TEST(MemoryTimelineTest, SeesBuffersComeAndGo) {
  MemoryTimeline timeline;
  const size_t before = timeline.Samples().back().bytes[0];
  int buffer = 0;
  memory::Ledger::Get().Add(&buffer, 1000,
                            {memory::Kind::kActivations, "test"});
  memory::Ledger::Get().Remove(&buffer);
  const auto samples = timeline.Samples();
  ASSERT_EQ(3, samples.size());
  EXPECT_EQ(before + 1000, samples[1].bytes[0]);
  EXPECT_EQ(before, samples[2].bytes[0]);
}

}  // namespace

}  // namespace caffe
