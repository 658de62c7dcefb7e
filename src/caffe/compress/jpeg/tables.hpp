#ifndef CAFFE_SRC_COMPRESS_JPEG_TABLES_HPP_
#define CAFFE_SRC_COMPRESS_JPEG_TABLES_HPP_

#include <algorithm>
#include <array>
#include <cstdint>

// The numbers of JPEG (ITU-T T.81) that the codec uses. Coefficients of a tile
// are kept transposed, horizontal frequency * 8 + vertical frequency, which
// saves the transform a transposition.
namespace caffe::codec::jpeg {

constexpr int kTile = 8;
constexpr int kTileValues = kTile * kTile;

// Where the coefficients of a tile are, in the order of the zigzag.
constexpr std::array<uint8_t, kTileValues> MakeZigzag() {
  std::array<uint8_t, kTileValues> places = {};
  int at = 0;
  for (int diagonal = 0; diagonal < 2 * kTile - 1; ++diagonal) {
    const int first = std::max(0, diagonal - kTile + 1);
    const int last = std::min(diagonal, kTile - 1);
    for (int k = first; k <= last; ++k) {
      const int vertical = diagonal % 2 == 0 ? diagonal - k : k;
      places[at++] =
          static_cast<uint8_t>((diagonal - vertical) * kTile + vertical);
    }
  }
  return places;
}
inline constexpr std::array<uint8_t, kTileValues> kZigzag = MakeZigzag();

constexpr std::array<uint8_t, kTileValues> Inverted(
    const std::array<uint8_t, kTileValues>& order) {
  std::array<uint8_t, kTileValues> inverse = {};
  for (int i = 0; i < kTileValues; ++i) {
    inverse[order[i]] = static_cast<uint8_t>(i);
  }
  return inverse;
}
inline constexpr std::array<uint8_t, kTileValues> kZigzagPlace =
    Inverted(kZigzag);

// Quantisation steps by [vertical frequency][horizontal frequency]: table K.1,
// for brightness at quality 50.
inline constexpr uint8_t kLuminance[kTile][kTile] = {
    {16, 11, 10, 16, 24, 40, 51, 61},     {12, 12, 14, 19, 26, 58, 60, 55},
    {14, 13, 16, 24, 40, 57, 69, 56},     {14, 17, 22, 29, 51, 87, 80, 62},
    {18, 22, 37, 56, 68, 109, 103, 77},   {24, 35, 55, 64, 81, 104, 113, 92},
    {49, 64, 78, 87, 103, 121, 120, 101}, {72, 92, 95, 98, 112, 100, 103, 99}};

// The steps of a table and their inverses, transposed.
struct Steps {
  float step[kTileValues];
  float inverse[kTileValues];
};

// The numbers are part of the format.
enum class Table : uint8_t { kJpeg80 = 0, kFlat = 1 };

constexpr int StepOf(Table table, int vertical, int horizontal) {
  if (table == Table::kJpeg80) {
    // Quality 80, as libjpeg counts, is 40 percent of the steps at 50.
    return (kLuminance[vertical][horizontal] * 40 + 50) / 100;
  }
  return vertical + horizontal == 0 ? 8 : 16;
}

constexpr Steps MakeSteps(Table table) {
  Steps steps = {};
  for (int h = 0; h < kTile; ++h) {
    for (int v = 0; v < kTile; ++v) {
      const auto step = static_cast<float>(StepOf(table, v, h));
      steps.step[h * kTile + v] = step;
      steps.inverse[h * kTile + v] = 1 / step;
    }
  }
  return steps;
}
inline constexpr Steps kSteps[2] = {MakeSteps(Table::kJpeg80),
                                    MakeSteps(Table::kFlat)};

}  // namespace caffe::codec::jpeg

#endif  // CAFFE_SRC_COMPRESS_JPEG_TABLES_HPP_
