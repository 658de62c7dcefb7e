#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "caffe/caffe.hpp"
#include "example_surroundings.hpp"
#include "layer_class.hpp"
#include "settings_table.hpp"

// Writes a page for every layer type, from what is known of it anyway: the
// comment of its class, the messages with its settings, and what the layer
// itself says when it runs as docs/layers/examples.prototxt has it.
//
//   layer_pages PROJECT_FOLDER OUTPUT_FOLDER

namespace caffe {

namespace {

constexpr char kExamples[] = "/docs/layers/examples.prototxt";

string ReadAll(const string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The texts of the layers in a prototxt, as they are.
std::vector<string> LayerTexts(const string& prototxt) {
  std::vector<string> texts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < prototxt.size(); ++i) {
    if (prototxt[i] == '{' && depth++ == 0) start = prototxt.rfind('\n', i) + 1;
    if (prototxt[i] != '}' || --depth > 0) continue;
    const string text = prototxt.substr(start, i + 1 - start);
    if (text.starts_with("layer")) texts.push_back(text);
  }
  return texts;
}

string Shape(const Blob<float>& blob) {
  string text;
  for (const int extent : blob.shape()) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text.empty() ? "one value" : text;
}

const char* InWords(BackwardRead read) {
  switch (read) {
    case BackwardRead::kNothing:
      return "nothing";
    case BackwardRead::kNonZero:
      return "which are zero";
    case BackwardRead::kSign:
      return "signs";
    case BackwardRead::kValues:
      return "values, within a bound";
    case BackwardRead::kExact:
      return "values, exactly";
  }
  return "";
}

string Numbers(int exact, int min, int max) {
  if (exact >= 0) return exact == 0 ? "none" : std::to_string(exact);
  if (min >= 0 && max >= 0) return Concat(min, " to ", max);
  if (min >= 0) return Concat("at least ", min);
  return max >= 0 ? Concat("up to ", max) : "any number";
}

// All examples, in one net.
class Examples {
 public:
  explicit Examples(const string& project) {
    NetParameter net;
    ReadNetParamsFromTextFileOrDie(project + kExamples, &net);
    const std::vector<string> texts = LayerTexts(ReadAll(project + kExamples));
    CHECK_EQ(texts.size(), static_cast<size_t>(net.layer_size()));
    for (int i = 0; i < net.layer_size(); ++i) {
      const LayerParameter& layer = net.layer(i);
      // The first of a type is its example.
      examples_.try_emplace(layer.type(), Example{layer, texts[i]});
    }
    net_ = std::make_unique<Net<float>>(net);
    surroundings_.Feed(net_.get());
    net_->Forward();
  }

  bool Has(const string& type) const { return examples_.contains(type); }
  const string& Text(const string& type) const {
    return examples_.at(type).text;
  }

  // The blobs of an example, with shapes and what Backward reads of them.
  string Blobs(const string& type) const {
    const LayerParameter& param = examples_.at(type).param;
    const auto& names = net_->layer_names();
    const auto at = std::find(names.begin(), names.end(), param.name());
    const int id = static_cast<int>(at - names.begin());
    Layer<float>& layer = *net_->layers()[id];
    const BackwardReads reads = layer.backward_reads();
    string rows = "| | shape | read by Backward |\n| --- | --- | --- |\n";
    for (int i = 0; i < param.bottom_size(); ++i) {
      rows +=
          Row("bottom `" + param.bottom(i) + "`",
              Shape(*net_->bottom_vecs()[id][i]), InWords(reads.OfBottom(i)));
    }
    for (int i = 0; i < param.top_size(); ++i) {
      rows += Row("top `" + param.top(i) + "`", Shape(*net_->top_vecs()[id][i]),
                  InWords(reads.OfTop(i)));
    }
    for (size_t i = 0; i < layer.blobs().size(); ++i) {
      rows += Row(Concat("parameter ", i), Shape(*layer.blobs()[i]), "");
    }
    for (const BackwardReads::Buffer& buffer : reads.buffers) {
      if (buffer.read == BackwardRead::kNothing) continue;
      rows += Row("kept: " + buffer.name, "", InWords(buffer.read));
    }
    return rows;
  }

 private:
  struct Example {
    LayerParameter param;
    string text;
  };

  static string Row(const string& what, const string& shape,
                    const string& read) {
    return "| " + what + " | " + shape + " | " + read + " |\n";
  }

  ExampleSurroundings surroundings_;
  std::map<string, Example> examples_;
  std::unique_ptr<Net<float>> net_;
};

class Pages {
 public:
  explicit Pages(const string& project)
      : project_(project), examples_(project), tables_(PROTO_DESCRIPTORS) {
    const std::vector<string> types = LayerRegistry<float>::LayerTypeList();
    string missing;
    for (const string& type : types) {
      if (!examples_.Has(type)) missing += " " + type;
    }
    Require(missing.empty(), kExamples + 1, " has no example of", missing);
    for (const string& type : types) {
      pages_["README.md"] += IndexRow(type);
      pages_[type + ".md"] = Page(type);
    }
    pages_["README.md"] =
        ReadAll(project + "/docs/generator/index_head.md") +
        "\n| type | |\n| --- | --- |\n" + pages_["README.md"] +
        "\n## Parameters\n\nEvery layer takes `param { }`, once for each of "
        "its parameters:\n\n" +
        tables_.Of("ParamSpec") +
        "\n## Fillers\n\nParameters get their first values from a filler:\n\n" +
        tables_.Of("FillerParameter");
  }

  void Write(const string& folder) const {
    for (const auto& [name, text] : pages_) {
      std::ofstream(Concat(folder, "/", name)) << text;
    }
    std::cout << pages_.size() << " pages in " << folder << std::endl;
  }

 private:
  LayerClass ClassOf(const string& type) const {
    return ReadLayerClass(project_, type + "Layer");
  }

  // The type and the first sentence about it.
  string IndexRow(const string& type) const {
    const string comment = ClassOf(type).comment;
    string sentence = comment.substr(0, comment.find("\n\n"));
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    sentence = sentence.substr(0, sentence.find(". "));
    sentence.erase(sentence.find_last_not_of(" .:") + 1);
    static const std::regex bar("\\|");
    return Concat("| [", type, "](", type, ".md) | ",
                  std::regex_replace(sentence, bar, "\\|"), " |\n");
  }

  // Those of its own, or else of the type it takes them from, and those that
  // belong to no type.
  std::vector<string> SettingsOf(const string& type,
                                 const LayerClass& layer_class) const {
    std::vector<string> own;
    std::vector<string> others;
    for (const string& field : layer_class.settings) {
      string owner = tables_.MessageOf(field);
      owner.erase(owner.rfind("Parameter"));
      const bool is_others = owner != type && examples_.Has(owner);
      (is_others ? others : own).push_back(field);
    }
    // Layers in Python read theirs elsewhere.
    const string its_own = tables_.FieldOf(type + "Parameter");
    if (its_own.empty()) {
      own.insert(own.begin(), others.begin(), others.end());
    } else if (!layer_class.settings.contains(its_own)) {
      own.insert(own.begin(), its_own);
    }
    return own;
  }

  string Page(const string& type) const {
    const LayerClass layer_class = ClassOf(type);
    LayerParameter param;
    param.set_type(type);
    const shared_ptr<Layer<float>> layer =
        LayerRegistry<float>::CreateLayer(param);
    const string bottoms =
        Numbers(layer->ExactNumBottomBlobs(), layer->MinBottomBlobs(),
                layer->MaxBottomBlobs());
    const string tops =
        layer->EqualNumBottomTopBlobs()
            ? "as many as bottoms"
            : Numbers(layer->ExactNumTopBlobs(), layer->MinTopBlobs(),
                      layer->MaxTopBlobs());
    string page = Concat(
        "<!-- Written by docs/generator; change its sources instead. -->\n# ",
        type, "\n\n", layer_class.comment, "\n| | |\n| --- | --- |\n",
        "| header | [`", layer_class.header, "`](../../include/",
        layer_class.header, ") |\n| bottoms | ", bottoms, " |\n| tops | ", tops,
        " |\n\n## Example\n\n```\n", examples_.Text(type), "\n```\n");
    page += Concat("\n", examples_.Blobs(type));
    const std::vector<string> settings = SettingsOf(type, layer_class);
    if (!settings.empty()) page += "\n## Settings\n";
    for (const string& field : settings) {
      page += "\n`" + field + "`:\n\n" + tables_.Of(tables_.MessageOf(field));
    }
    return page;
  }

  const string project_;
  const Examples examples_;
  const SettingsTables tables_;
  std::map<string, string> pages_;
};

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: layer_pages PROJECT_FOLDER OUTPUT_FOLDER" << std::endl;
    return 1;
  }
  google::InitGoogleLogging(argv[0]);
  FLAGS_minloglevel = google::WARNING;
  try {
    // The examples run in another folder.
    const auto project = std::filesystem::absolute(argv[1]).string();
    const auto output = std::filesystem::absolute(argv[2]).string();
    caffe::Pages(project).Write(output);
  } catch (const std::exception& error) {
    std::cerr << "layer_pages: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
