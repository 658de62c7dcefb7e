#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "caffe/compress/codec.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "temporary_folder.hpp"

// Runs codec and codec_bench as a user does.

namespace caffe {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// A .npy file as NumPy writes it, but for the padding, which it allows.
template <typename T>
string NpyBytes(const string& shape, const std::vector<T>& values) {
  const string header = "{'descr': '<f" + std::to_string(sizeof(T)) +
                        "', 'fortran_order': False, 'shape': (" + shape +
                        "), }\n";
  string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()),
               values.size() * sizeof(T));
  return bytes;
}

template <typename T>
string PlainBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> ValuesAtEnd(const string& bytes, size_t count) {
  std::vector<T> values(count);
  EXPECT_GE(bytes.size(), count * sizeof(T));
  std::memcpy(values.data(), bytes.data() + bytes.size() - count * sizeof(T),
              count * sizeof(T));
  return values;
}

// Waves with some zeros.
template <typename T>
std::vector<T> Waves(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(std::max(0.0, std::sin(0.1 * i)));
  }
  return values;
}

class CodecToolsTest : public ::testing::Test {
 protected:
  // The exit code; what the program prints goes to `output_`.
  int Run(const string& arguments, const string& program = "codec") {
    const string log = folder_ / "log";
    const string command =
        Concat(TOOLS_DIR "/", program, " ", arguments, " > ", log, " 2>&1");
    const int status = std::system(command.c_str());
    output_ = ReadWholeFile(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Expects exit code 1 and one line with `message`.
  void ExpectFails(const string& arguments, const string& message,
                   const string& program = "codec") {
    EXPECT_EQ(1, Run(arguments, program)) << arguments;
    EXPECT_THAT(output_, HasSubstr(message));
    EXPECT_EQ(1, std::count(output_.begin(), output_.end(), '\n')) << output_;
  }

  const TemporaryFolder folder_;
  const string packed_ = folder_ / "packed.cfz";
  string output_;
};

TEST_F(CodecToolsTest, NumPyFilesThereAndBack) {
  const auto values = Waves<float>(2 * 3 * 100);
  const string in = folder_ / "in.npy";
  const string out = folder_ / "out.npy";
  WriteWholeFile(in, NpyBytes("2, 3, 100", values));
  ASSERT_EQ(0, Run("compress " + in + " " + packed_ + " --bound=0.01"))
      << output_;
  EXPECT_THAT(output_, HasSubstr("2400 bytes to "));
  EXPECT_THAT(output_, HasSubstr("zeros kept 100 %"));
  ASSERT_EQ(0, Run("decompress " + packed_ + " " + out)) << output_;
  const string bytes = ReadWholeFile(out);
  EXPECT_THAT(bytes.substr(0, 128),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                        "'shape': (2, 3, 100), }"));
  EXPECT_EQ(128 + 2400, bytes.size());
  const auto restored = ValuesAtEnd<float>(bytes, 600);
  for (size_t i = 0; i < 600; ++i) {
    EXPECT_NEAR(values[i], restored[i], 0.01);
  }
  // What it writes, it reads.
  EXPECT_EQ(0, Run("compress " + out + " " + packed_ + " --codec=raw"))
      << output_;
  EXPECT_EQ((std::vector<string>{"in.npy", "log", "out.npy", "packed.cfz"}),
            folder_.Names());
}

TEST_F(CodecToolsTest, SomeImagesOfDoubles) {
  const auto values = Waves<double>(5 * 70);
  const string in = folder_ / "in.npy";
  const string out = folder_ / "out.f64";
  WriteWholeFile(in, NpyBytes("5, 70", values));
  ASSERT_EQ(0, Run("compress " + in + " " + packed_ + " --codec=lossless"))
      << output_;
  ASSERT_EQ(0, Run("decompress " + packed_ + " " + out + " --images=3:2"))
      << output_;
  EXPECT_EQ(PlainBytes(values).substr(3 * 70 * 8), ReadWholeFile(out));
  ASSERT_EQ(0, Run("decompress " + packed_ + " " + out + " --images=1"));
  EXPECT_EQ(PlainBytes(values).substr(70 * 8, 70 * 8), ReadWholeFile(out));
  ExpectFails("decompress " + packed_ + " " + out + " --images=4:2",
              "there are only 5 images");
  ExpectFails("decompress " + packed_ + " " + out + " --images=x",
              "--images must be FIRST or FIRST:COUNT, not 'x'");
}

TEST_F(CodecToolsTest, PlainFilesHaveTheirShapesInNamesOrFlags) {
  const auto values = Waves<float>(240);
  const string named = folder_ / "conv1_2x3x8x5.f32";
  const string plain = folder_ / "conv1.f32";
  WriteWholeFile(named, PlainBytes(values));
  WriteWholeFile(plain, PlainBytes(values));
  const auto shape_of = [&](const string& arguments) {
    EXPECT_EQ(0, Run("compress " + arguments + " --codec=zvc")) << output_;
    EXPECT_EQ(0, Run("inspect " + packed_)) << output_;
    const size_t at = output_.find("shape      ") + 11;
    return output_.substr(at, output_.find('\n', at) - at);
  };
  EXPECT_EQ("2x3x8x5", shape_of(named + " " + packed_));
  EXPECT_EQ("6x40", shape_of(plain + " " + packed_ + " --shape=6x40"));
  EXPECT_EQ("240", shape_of(plain + " " + packed_));
  ExpectFails("compress " + plain + " " + packed_ + " --shape=7x40",
              "has 960 bytes where 7x40 values of 4 bytes need 1120");
  ExpectFails("compress " + plain + " " + packed_ + " --shape=7y",
              "'7y' is not a shape like 64x3x32x32");
}

TEST_F(CodecToolsTest, InspectTellsWhatAFrameIs) {
  const string in = folder_ / "x_10x100.f32";
  WriteWholeFile(in, PlainBytes(Waves<float>(1000)));
  ASSERT_EQ(0, Run("compress " + in + " " + packed_ +
                   " --relative_bound=0.5 --rounding=dither --level=fast"));
  ASSERT_EQ(0, Run("inspect " + packed_)) << output_;
  EXPECT_THAT(output_, HasSubstr("codec      sz (number 1)\n"));
  EXPECT_THAT(output_, HasSubstr("type       float32\n"));
  EXPECT_THAT(output_, HasSubstr("shape      10x100\n"));
  EXPECT_THAT(output_, HasSubstr("checksum   yes\n"));
  EXPECT_THAT(output_, HasSubstr("contents   whole\n"));
  // 0.5 standard deviations of max(0, sin).
  const size_t at = output_.find("bound      ") + 11;
  EXPECT_NEAR(0.5 * 0.386, std::stod(output_.substr(at)), 0.005);

  string bytes = ReadWholeFile(packed_);
  bytes[bytes.size() - 20] ^= 4;
  WriteWholeFile(packed_, bytes);
  EXPECT_EQ(1, Run("inspect " + packed_));
  EXPECT_THAT(output_,
              HasSubstr("packed.cfz: the compressed tensor is damaged"));
}

TEST_F(CodecToolsTest, EveryCodecGoesThereAndBack) {
  const string in = folder_ / "x_4x10x10.f32";
  const string out = folder_ / "out.f32";
  WriteWholeFile(in, PlainBytes(Waves<float>(400)));
  ASSERT_EQ(0, Run("list"));
  const string list = output_;
  for (const codec::Codec* const codec : codec::Codecs()) {
    const string name(codec->name());
    EXPECT_THAT(list, HasSubstr(name));
    EXPECT_EQ(0, Run("compress " + in + " " + packed_ + " --codec=" + name))
        << output_;
    EXPECT_EQ(0, Run("decompress " + packed_ + " " + out)) << output_;
    EXPECT_EQ(1600, ReadWholeFile(out).size());
  }
}

TEST_F(CodecToolsTest, MistakesGiveOneSentence) {
  const string in = folder_ / "x.f32";
  WriteWholeFile(in, PlainBytes(Waves<float>(400)));
  const string both = in + " " + packed_;
  ExpectFails("", "wrong number of arguments; usage: codec compress IN OUT");
  ExpectFails("compress " + in, "wrong number of arguments");
  ExpectFails("squeeze " + both, "wrong number of arguments");
  ExpectFails("compress " + both + " --codec=zip", "unknown codec 'zip'");
  ExpectFails("compress " + both + " --level=medium",
              "--level must be dense or fast, not 'medium'");
  ExpectFails("compress " + both + " --rounding=up", "--rounding must be");
  ExpectFails("compress " + both + " --relative_bound=-1", "negative");
  ExpectFails("compress nowhere.f32 " + packed_,
              "cannot open nowhere.f32: No such file");
  ExpectFails("compress x.txt " + packed_, "ends with .npy, .f32 or .f64");
  ExpectFails("inspect " + in, "x.f32: not a compressed tensor");
  EXPECT_EQ(0, Run("compress " + both));
  ExpectFails("decompress " + packed_ + " y.f64", "name it .f32 or .npy");
  ExpectFails("decompress " + packed_ + " " + (folder_ / "no/y.f32"),
              "no/y.f32");
}

TEST_F(CodecToolsTest, BadNumPyFilesGiveOneSentence) {
  const string in = folder_ / "in.npy";
  const auto values = Waves<float>(6);
  const string good = NpyBytes("2, 3", values);
  const auto expect = [&](const string& bytes, const string& message) {
    WriteWholeFile(in, bytes);
    ExpectFails("compress " + in + " " + packed_, message);
  };
  const auto with = [&](const string& from, const string& to) {
    string bytes = good;
    return bytes.replace(bytes.find(from), from.size(), to);
  };
  expect("", "is not a .npy file");
  expect("hello, this is not", "is not a .npy file");
  expect(good.substr(0, 40), "in.npy ends too early");
  expect(good.substr(0, good.size() - 1), "23 bytes of values where");
  expect(good + "x", "25 bytes of values where");
  expect(with("<f4", "<i4"), "holds neither float32 nor float64 but '<i4'");
  expect(with("False", "True "), "is in Fortran's order");
  expect(with("(2, 3)", "[2, 3]"), "it has no shape");
  expect(with("2, 3", "2, x"), "is not a shape");
  expect(with("'shape'", "'ships'"), "its header lacks shape");
  // Any byte may be wrong: an error, or other values, but no crash.
  for (size_t i = 0; i < good.size(); i += 11) {
    string bytes = good;
    bytes[i] = static_cast<char>(0xFF);
    WriteWholeFile(in, bytes);
    EXPECT_THAT(Run("compress " + in + " " + packed_), AnyOf(0, 1)) << i;
  }
}

TEST_F(CodecToolsTest, HelpTeaches) {
  for (const string tool : {"codec", "codec_bench"}) {
    EXPECT_EQ(0, Run("--help", tool));
    EXPECT_THAT(output_, HasSubstr("usage: " + tool));
    EXPECT_THAT(output_, HasSubstr("Examples:"));
    EXPECT_THAT(output_, HasSubstr("--relative_bound"));
  }
}

TEST_F(CodecToolsTest, BenchComparesCodecs) {
  const string csv = folder_ / "bench.csv";
  ASSERT_EQ(0, Run("--values=20000 --repeats=1 --csv=" + csv, "codec_bench"))
      << output_;
  for (const codec::Codec* const codec : codec::Codecs()) {
    EXPECT_THAT(output_, HasSubstr(Concat("\n", codec->name())));
  }
  EXPECT_THAT(output_, HasSubstr("(quantise + zstd -1)"));
  EXPECT_THAT(output_, HasSubstr("(order-0 entropy)"));
  const string lines = ReadWholeFile(csv);
  EXPECT_TRUE(lines.starts_with("tensor,shape,codec,bound,"));
  EXPECT_THAT(lines, HasSubstr("smooth_relu,1x64x56x56,sz-dense,"));
  const auto columns = [](const string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  size_t at = 0;
  for (size_t end; (end = lines.find('\n', at)) != string::npos; at = end + 1) {
    EXPECT_EQ(columns(lines.substr(0, lines.find('\n'))),
              columns(lines.substr(at, end - at)));
  }
}

TEST_F(CodecToolsTest, BenchReadsFilesAndFolders) {
  WriteWholeFile(folder_ / "a_4x10x10.f32", PlainBytes(Waves<float>(400)));
  WriteWholeFile(folder_ / "b.npy", NpyBytes("40, 10", Waves<double>(400)));
  const string csv = folder_ / "bench.csv";
  ASSERT_EQ(
      0, Run(folder_.path() + " --repeats=1 --codecs=raw,sz-fast --csv=" + csv,
             "codec_bench"))
      << output_;
  const string lines = ReadWholeFile(csv);
  EXPECT_THAT(lines, HasSubstr("\na_4x10x10,4x10x10,raw,"));
  EXPECT_THAT(lines, HasSubstr("\nb,40x10,sz-fast-dither,"));
  EXPECT_EQ(1 + 2 * 3, std::count(lines.begin(), lines.end(), '\n'));
  ExpectFails("--codecs=zip", "--codecs: there is no 'zip'", "codec_bench");
  ExpectFails("--repeats=0", "--repeats must be positive", "codec_bench");
}

}  // namespace
}  // namespace caffe
