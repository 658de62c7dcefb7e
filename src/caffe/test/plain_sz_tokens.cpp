#include "plain_sz_tokens.hpp"

#include <algorithm>
#include <cstdlib>

namespace caffe::codec {
namespace {

int ReadFrequency(Bits* bits) {
  const int width = bits->Number(4);
  Require(width <= 10, "a frequency is too large");
  if (width == 0) return 0;
  return 1 << (width - 1) | bits->Number(width - 1);
}

SzFrequencies ReadFrequencies(Bits* bits) {
  SzFrequencies table;
  const int first = bits->Number(8);
  const int last = bits->Number(8);
  Require(1 <= first && first <= last, "wrong first or last symbol");
  table.frequency[0] = ReadFrequency(bits);
  Require(table.frequency[0] >= 1, "the escape has no frequency");
  for (int s = first; s <= last; ++s) table.frequency[s] = ReadFrequency(bits);
  int sum = 0;
  for (int s = 0; s < 256; ++s) {
    table.below[s] = sum;
    for (int i = 0; i < table.frequency[s]; ++i) {
      Require(sum < 1024, "frequencies above 1024");
      table.symbol[sum++] = s;
    }
  }
  Require(sum == 1024, "frequencies below 1024");
  return table;
}

void RemovePadding(size_t n, std::vector<int>* tokens) {
  for (size_t i = n; i < tokens->size(); ++i) {
    Require((*tokens)[i] == 0, "padding is not zero");
  }
  tokens->resize(n);
}

int Median(int a, int b, int c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

int CountBelow(const std::vector<int>& thresholds, int x) {
  int below = 0;
  for (const int threshold : thresholds) below += threshold < x ? 1 : 0;
  return below;
}

// Decodes a block of DENSE, lane by lane of one step after the other.
class DenseDecoder {
 public:
  DenseDecoder(const SzModel& model, uint32_t row, Bytes* in, uint32_t words,
               uint32_t escapes)
      : model_(model), row_(row), words_({}), escapes_({}) {
    for (uint64_t& state : states_) {
      state = in->Get<uint32_t>();
      Require(state >= 1 << 15 && state < uint64_t{1} << 31, "wrong state");
    }
    words_ = Bytes(in->Take(size_t{2} * words));
    escapes_ = Bytes(in->Take(escapes));
  }

  std::vector<int> Decode(size_t n) {
    const size_t steps = (n + kSzLanes - 1) / kSzLanes;
    std::vector<int> tokens(steps * kSzLanes);
    for (size_t t = 0; t < steps; ++t) {
      for (int lane = 0; lane < kSzLanes; ++lane) {
        int* const token = &tokens[lane * steps + t];
        *token = NextToken(lane, token, t);
      }
    }
    RemovePadding(n, &tokens);
    for (const uint64_t state : states_) {
      Require(state == 1 << 15, "wrong last state");
    }
    Require(words_.left() == 0 && escapes_.left() == 0, "too many words");
    return tokens;
  }

 private:
  // The lane's token t is to stand at `token`, after those before it.
  int NextToken(int lane, const int* token, size_t t) {
    const int left = t > 0 ? token[-1] : 0;
    const int above = row_ > 0 && t >= row_ ? token[-row_] : left;
    const int corner = row_ > 0 && t > row_ ? token[-row_ - 1] : 0;
    const int prediction = Median(left, above, left + above - corner);
    const int activity =
        std::min(255, std::abs(left - corner) + std::abs(above - corner));
    const int levels = static_cast<int>(model_.level_thresholds.size()) + 1;
    const int context =
        CountBelow(model_.activity_thresholds, activity) * levels +
        CountBelow(model_.level_thresholds, prediction);
    const int symbol = NextSymbol(&states_[lane], model_.contexts[context]);
    if (symbol == 0) return escapes_.Get<int8_t>();
    return symbol - 128 + (model_.predicts ? prediction : 0);
  }

  int NextSymbol(uint64_t* state, const SzFrequencies& table) {
    const auto rest = static_cast<int>(*state % 1024);
    const int symbol = table.symbol[rest];
    *state =
        table.frequency[symbol] * (*state >> 10) + (rest - table.below[symbol]);
    if (*state < 1 << 15) *state = *state << 16 | words_.Get<uint16_t>();
    return symbol;
  }

  const SzModel& model_;
  const ptrdiff_t row_;
  std::array<uint64_t, kSzLanes> states_ = {};
  Bytes words_;
  Bytes escapes_;
};

// The next 16 tokens of FAST, as stored.
void AddFastGroup(int code, Bytes* in, std::vector<int>* tokens) {
  const int width = code < 8 ? code : code - 7;
  if (width == 8) {
    for (int i = 0; i < 16; ++i) tokens->push_back(in->Get<int8_t>());
    return;
  }
  std::array<int, 16> group = {};
  int shift = 0;
  for (const int bits : {4, 2, 1}) {
    if ((width & bits) == 0) continue;
    const size_t size = 2 * bits;
    const auto part = in->Take(size);
    for (size_t i = 0; i < 16; ++i) {
      const int byte =
          bits == 1 ? part[i / 8] >> i % 8 : part[i % size] >> i / size * bits;
      group[i] |= (byte & ((1 << bits) - 1)) << shift;
    }
    shift += bits;
  }
  for (const int token : group) {
    const bool negative = code >= 8 && token >> (width - 1) != 0;
    tokens->push_back(negative ? token - (1 << width) : token);
  }
}

}  // namespace

SzModel ReadSzModel(Bytes in) {
  SzModel model;
  const int predicts = in.Get<uint8_t>();
  Require(predicts <= 1, "wrong kind of tokens");
  model.predicts = predicts == 1;
  const int activities = in.Get<uint8_t>();
  const int levels = in.Get<uint8_t>();
  Require(activities >= 1 && levels >= 1 && activities * levels <= 16,
          "wrong number of classes");
  for (int i = 1; i < activities; ++i) {
    const int threshold = in.Get<uint8_t>();
    Require(threshold <= 14, "wrong activity threshold");
    model.activity_thresholds.push_back(threshold);
  }
  for (int i = 1; i < levels; ++i) {
    const auto threshold = in.Get<int8_t>();
    Require(-16 <= threshold && threshold <= 14, "wrong level threshold");
    model.level_thresholds.push_back(threshold);
  }
  Bits bits(in.Take(in.left()));
  for (int i = 0; i < activities * levels; ++i) {
    model.contexts.push_back(ReadFrequencies(&bits));
  }
  bits.End();
  return model;
}

std::vector<int> FastTokens(int differences, uint32_t row, Bytes* in,
                            uint32_t bytes, size_t n) {
  const auto codes = in->Take((n + 31) / 32);
  Bytes groups(in->Take(bytes));
  std::vector<int> tokens;
  for (const uint8_t two : codes) {
    AddFastGroup(two & 15, &groups, &tokens);
    AddFastGroup(two >> 4, &groups, &tokens);
  }
  Bits(groups.Take(groups.left())).End();
  RemovePadding(n, &tokens);
  const auto add_earlier = [&](size_t distance) {
    for (size_t i = distance; i < n; ++i) {
      const int sum = tokens[i] + tokens[i - distance];
      tokens[i] = ((sum + 128) & 255) - 128;  // As in bytes that wrap around.
    }
  };
  if ((differences & 1) != 0) add_earlier(1);
  if ((differences & 2) != 0) add_earlier(row);
  return tokens;
}

std::vector<int> DenseTokens(const SzModel& model, uint32_t row, Bytes* in,
                             uint32_t words, uint32_t escapes, size_t n) {
  return DenseDecoder(model, row, in, words, escapes).Decode(n);
}

}  // namespace caffe::codec
