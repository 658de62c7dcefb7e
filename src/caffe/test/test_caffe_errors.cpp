#include <sys/wait.h>

#include <cstdlib>
#include <functional>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/db.hpp"
#include "temporary_folder.hpp"

// What the caffe program says when something is wrong with a net, its data or
// its weights: one sentence on stderr that names the file and the layer, and
// exit code 1. Mistakes on the command line are in test_caffe_tool.cpp.

namespace caffe {

namespace {

constexpr int kSide = 8;

Datum Image() {
  Datum datum;
  datum.set_channels(1);
  datum.set_height(kSide);
  datum.set_width(kSide);
  datum.set_data(string(kSide * kSide, 'x'));
  datum.set_label(1);
  return datum;
}

Datum BrokenJpeg() {
  Datum datum;
  datum.set_encoded(true);
  datum.set_data("\xff\xd8\xff\xe0 this is not a photograph");
  return datum;
}

void WriteDatabase(const string& path, const vector<string>& records) {
  const std::unique_ptr<db::DB> database(db::GetDB("lmdb"));
  database->Open(path, db::NEW);
  const std::unique_ptr<db::Transaction> transaction(
      database->NewTransaction());
  for (size_t i = 0; i < records.size(); ++i) {
    transaction->Put(Concat("image", i), records[i]);
  }
  transaction->Commit();
}

// A layer from its most usual parts.
string LayerText(const string& name, const string& type, const string& rest) {
  return Concat("layer { name: \"", name, "\" type: \"", type, "\" ", rest,
                " }\n");
}

string DataText(const string& rest = "") {
  return LayerText("images", "Data",
                   "top: \"data\" top: \"label\" data_param { source: "
                   "\"images_lmdb\" batch_size: 4 backend: LMDB } " +
                       rest);
}

string ScoresText(int num_output) {
  return LayerText("scores", "InnerProduct",
                   Concat("bottom: \"data\" top: \"scores\" "
                          "inner_product_param { num_output: ",
                          num_output, " }"));
}

string LossText() {
  return LayerText("loss", "SoftmaxWithLoss",
                   "bottom: \"scores\" bottom: \"label\" top: \"loss\"");
}

// A folder with a net that trains, for a test to spoil.
class Workplace {
 public:
  Workplace() {
    WriteDatabase(Path("images_lmdb"),
                  vector<string>(8, Image().SerializeAsString()));
    WriteNet(DataText() + ScoresText(2) + LossText());
    Write("solver.prototxt", Solver());
  }

  static string Solver(const string& prefix = "snap") {
    return Concat("net: \"net.prototxt\" base_lr: 0.1 lr_policy: \"fixed\" ",
                  "max_iter: 2 solver_mode: CPU snapshot_prefix: \"", prefix,
                  "\"");
  }

  string Path(const string& name) const { return folder_ / name; }
  void Write(const string& name, const string& contents) const {
    WriteWholeFile(Path(name), contents);
  }
  void WriteNet(const string& layers) const { Write("net.prototxt", layers); }
  void ReplaceDatabase(const vector<string>& records) const {
    std::filesystem::remove_all(Path("images_lmdb"));
    WriteDatabase(Path("images_lmdb"), records);
  }

  // Runs caffe in the folder; what it wrote to stderr goes to `log`.
  int Run(const string& arguments, string* log) const {
    const string command =
        Concat("cd '", folder_.path(), "' && exec '", CAFFE_PROGRAM, "' ",
               arguments, " > stdout 2> stderr");
    const int status = std::system(command.c_str());
    *log = ReadWholeFile(Path("stderr"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  TemporaryFolder folder_;
};

struct Mistake {
  const char* name;
  std::function<void(const Workplace&)> make;
  string arguments;
  // What the sentence has in it.
  vector<string> names;
};

// For the test's report.
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

const char kTrain[] = "train --solver=solver.prototxt";

// Leaves a snapshot of a net with two classes.
void Train(const Workplace& w) {
  string log;
  ASSERT_EQ(0, w.Run(kTrain, &log)) << log;
}

// Leaves a snapshot of a net with two classes, and a net with three.
void TrainAnotherNet(const Workplace& w) {
  Train(w);
  w.WriteNet(DataText() + ScoresText(3) + LossText());
}

const Mistake kMistakes[] = {
    // Nets.
    {"UnknownBottom",
     [](const Workplace& w) {
       w.WriteNet(DataText() +
                  LayerText("relu1", "ReLU", "bottom: \"conv1\" top: \"x\""));
     },
     kTrain,
     {"net.prototxt", "'relu1'", "'conv1'"}},
    {"MismatchedShapes",
     [](const Workplace& w) {
       w.WriteNet(DataText() + ScoresText(2) + LossText() +
                  LayerText("sum", "Eltwise",
                            "bottom: \"data\" bottom: \"scores\" top: \"s\""));
     },
     kTrain,
     {"net.prototxt", "'sum'"}},
    // Databases.
    {"MissingDatabase",
     [](const Workplace& w) {
       std::filesystem::remove_all(w.Path("images_lmdb"));
     },
     kTrain,
     {"images_lmdb", "'images'"}},
    {"EmptyDatabase",
     [](const Workplace& w) { w.ReplaceDatabase({}); },
     kTrain,
     {"images_lmdb", "'images'"}},
    {"TruncatedDatabase",
     [](const Workplace& w) {
       w.ReplaceDatabase(vector<string>(2000, Image().SerializeAsString()));
       std::filesystem::resize_file(w.Path("images_lmdb/data.mdb"), 20000);
     },
     kTrain,
     {"images_lmdb", "'images'"}},
    {"DatabaseOfZeros",
     [](const Workplace& w) {
       w.Write("images_lmdb/data.mdb", string(16384, '\0'));
     },
     kTrain,
     {"images_lmdb", "'images'"}},
    {"RecordThatIsNoImage",
     [](const Workplace& w) {
       w.ReplaceDatabase({Image().SerializeAsString(), "not a Datum"});
     },
     kTrain,
     {"images_lmdb", "image1", "'images'"}},
    {"CorruptJpeg",
     [](const Workplace& w) {
       w.ReplaceDatabase(
           {Image().SerializeAsString(), BrokenJpeg().SerializeAsString()});
     },
     kTrain,
     {"images_lmdb", "image1", "'images'"}},
    {"CorruptFirstJpeg",
     [](const Workplace& w) {
       w.ReplaceDatabase({BrokenJpeg().SerializeAsString()});
     },
     kTrain,
     {"images_lmdb", "image0", "'images'"}},
    {"MissingMeanFile",
     [](const Workplace& w) {
       w.WriteNet(DataText("transform_param { mean_file: \"absent\" }") +
                  ScoresText(2) + LossText());
     },
     kTrain,
     {"absent", "'images'", "No such file"}},
    {"LabelOutsideTheClasses",
     [](const Workplace& w) {
       w.WriteNet(DataText() + ScoresText(1) + LossText());
     },
     kTrain,
     {"'loss'", "label 1"}},

    // Weights and snapshots.
    {"WeightsThatAreNone",
     [](const Workplace& w) { w.Write("text.caffemodel", "hello\n"); },
     Concat(kTrain, " --weights=text.caffemodel"),
     {"text.caffemodel"}},
    {"WeightsOfAnotherNet",
     TrainAnotherNet,
     Concat(kTrain, " --weights=snap_iter_2.caffemodel"),
     {"snap_iter_2.caffemodel", "'scores'", "2 64", "3 64"}},
    {"SnapshotOfAnotherNet",
     TrainAnotherNet,
     Concat(kTrain, " --snapshot=snap_iter_2.solverstate"),
     {"snap_iter_2.solverstate", "history blob 0", "3 64"}},
    {"TruncatedSnapshot",
     [](const Workplace& w) {
       Train(w);
       std::filesystem::resize_file(w.Path("snap_iter_2.solverstate"), 100);
     },
     Concat(kTrain, " --snapshot=snap_iter_2.solverstate"),
     {"snap_iter_2.solverstate"}},
    {"NoFolderForSnapshots",
     [](const Workplace& w) {
       w.Write("solver.prototxt", w.Solver("absent/snap"));
     },
     kTrain,
     {"absent/snap"}},
    {"FullDisk",
     [](const Workplace& w) {
       std::filesystem::create_symlink("/dev/full",
                                       w.Path("snap_iter_2.caffemodel"));
     },
     kTrain,
     {"snap_iter_2.caffemodel", "No space left on device"}},
    {"TestWithWeightsOfAnotherNet",
     TrainAnotherNet,
     "test --model=net.prototxt --weights=snap_iter_2.caffemodel",
     {"snap_iter_2.caffemodel", "'scores'", "2 64", "3 64"}},
};

class CaffeErrorTest : public ::testing::TestWithParam<Mistake> {};

// The lines that are not the log's.
vector<string> Sentences(const string& log) {
  vector<string> sentences;
  std::istringstream lines(log);
  for (string line; std::getline(lines, line);) {
    if (line.starts_with("caffe: ")) sentences.push_back(line);
  }
  return sentences;
}

TEST_P(CaffeErrorTest, IsOneSentenceThatNamesTheCause) {
  const Workplace workplace;
  GetParam().make(workplace);
  string log;
  EXPECT_EQ(1, workplace.Run(GetParam().arguments, &log)) << log;
  const vector<string> sentences = Sentences(log);
  ASSERT_EQ(1, sentences.size()) << log;
  for (const string& name : GetParam().names) {
    EXPECT_NE(string::npos, sentences[0].find(name))
        << "'" << name << "' is not in: " << sentences[0];
  }
  EXPECT_EQ(string::npos, log.find("*** ")) << "a crash: " << log;
  EXPECT_TRUE(log.ends_with(sentences[0] + "\n")) << log;
}

INSTANTIATE_TEST_SUITE_P(All, CaffeErrorTest, ::testing::ValuesIn(kMistakes),
                         [](const ::testing::TestParamInfo<Mistake>& info) {
                           return string(info.param.name);
                         });

// The net that the mistakes spoil is a good one.
TEST(CaffeTest, TrainsWithoutMistakes) {
  const Workplace workplace;
  string log;
  EXPECT_EQ(0, workplace.Run(kTrain, &log)) << log;
  EXPECT_TRUE(Sentences(log).empty()) << log;
  EXPECT_TRUE(
      std::filesystem::exists(workplace.Path("snap_iter_2.caffemodel")));
}

}  // namespace

}  // namespace caffe
