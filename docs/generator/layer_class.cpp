#include "layer_class.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <vector>

#include "caffe/error.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The class as its header declares it: a comment, perhaps template, a name and
// bases.
struct Declaration {
  fs::path header;
  std::string comment;
  std::vector<std::string> bases;
};

std::optional<Declaration> FindClass(const fs::path& header,
                                     const std::string& name) {
  const std::string text = ReadAll(header);
  const std::regex pattern(
      "((?://[^\\n]*\\n)*)template <typename Dtype>\\n"
      "class " +
      name + "(?: final)?\\s*:([^{]*)\\{");
  std::smatch match;
  if (!std::regex_search(text, match, pattern)) return std::nullopt;
  Declaration found = {header, match[1], {}};
  const std::string bases = match[2];
  const std::regex base("public\\s+(\\w+)");
  for (std::sregex_iterator i(bases.begin(), bases.end(), base), end; i != end;
       ++i) {
    found.bases.push_back((*i)[1]);
  }
  return found;
}

std::optional<Declaration> FindClass(const std::string& project,
                                     const std::string& name) {
  for (const auto& entry :
       fs::directory_iterator(project + "/include/caffe/layers")) {
    if (auto found = FindClass(entry.path(), name)) return found;
  }
  return std::nullopt;
}

// The fields of LayerParameter whose values a file asks for.
void AddSettings(const fs::path& file, std::set<std::string>* settings) {
  const std::string text = ReadAll(file);
  const std::regex call("\\b(\\w+_param)\\(\\)");
  for (std::sregex_iterator i(text.begin(), text.end(), call), end; i != end;
       ++i) {
    const std::string name = (*i)[1];
    if (LayerParameter::descriptor()->FindFieldByName(name) != nullptr) {
      settings->insert(name);
    }
  }
}

void AddSettingsOf(const std::string& project, const Declaration& declaration,
                   std::set<std::string>* settings) {
  AddSettings(declaration.header, settings);
  AddSettings(project + "/src/caffe/layers/" +
                  declaration.header.stem().string() + ".cpp",
              settings);
  for (const std::string& base : declaration.bases) {
    if (const auto found = FindClass(project, base)) {
      AddSettingsOf(project, *found, settings);
    }
  }
}

// Lines without their slashes; those further in, formulas, become code.
std::string AsMarkdown(const std::string& comment) {
  static const std::regex slashes("^// ?");
  std::istringstream lines(comment);
  std::string text;
  bool was_code = false;
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, slashes, "");
    const bool is_code = line.starts_with("  ");
    const bool needs_gap = is_code != was_code && !line.empty();
    if (needs_gap && !text.empty() && !text.ends_with("\n\n")) text += '\n';
    if (line.starts_with("* ")) text += '\\';  // A product, not a list.
    text += (is_code ? "  " : "") + line + "\n";
    was_code = is_code;
  }
  return text;
}

}  // namespace

LayerClass ReadLayerClass(const std::string& project,
                          const std::string& class_name) {
  const auto declaration = FindClass(project, class_name);
  Require(declaration.has_value(), "no header of layers declares ", class_name);
  Require(!declaration->comment.empty(), class_name, " in ",
          declaration->header.string(), " has no comment");
  LayerClass result;
  result.header = "caffe/layers/" + declaration->header.filename().string();
  result.comment = AsMarkdown(declaration->comment);
  AddSettingsOf(project, *declaration, &result.settings);
  return result;
}

}  // namespace caffe
